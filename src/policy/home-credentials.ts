/**
 * Places below a home directory where programs keep credentials or record typed text. No tool touches them outside
 * the workspace, and no confined command sees them, whichever directory of a sandbox contains them. A `*` stands for
 * one name.
 */
export const homeCredentials: readonly string[] = [
  ...namesIn(`
    .ssh .gnupg .gpg .password-store .local/share/keyrings .vault-token .config/op .config/sops .config/age
    .netrc .git-credentials .gitconfig .config/git/credentials .config/gh/hosts.yml .config/glab-cli/config.yml
    .config/hub .config/github-copilot .config/acode .local/share/acode`),
  // clouds, containers and infrastructure
  ...namesIn(`
    .aws .azure .gcloud .config/gcloud .kube .docker/config.json .docker/machine .docker/contexts
    .config/containers/auth.json .config/helm/registry .terraform.d/credentials.tfrc.json .terraformrc
    .pulumi/credentials.json .config/doctl .fly .config/flyctl .config/heroku .config/netlify .config/configstore
    .config/rclone .config/stripe .config/ngrok .ngrok2 .s3cfg .boto .oci .bluemix .config/hcloud .config/scw`),
  // databases
  ...namesIn(".pgpass .my.cnf .mylogin.cnf .config/psql .snowsql/config .config/sqlcmd"),
  // package managers and languages
  ...namesIn(`
    .npmrc .yarnrc .yarnrc.yml .config/pnpm/rc .bunfig.toml .config/.bunfig.toml .npm-global/etc/npmrc
    .npm-packages/etc/npmrc .nvm/versions/node/*/etc/npmrc .fnm/node-versions/*/installation/etc/npmrc
    .local/share/fnm/node-versions/*/installation/etc/npmrc .volta/tools/image/node/*/etc/npmrc
    .nodenv/versions/*/etc/npmrc .asdf/installs/nodejs/*/etc/npmrc .local/share/mise/installs/node/*/etc/npmrc
    .proto/tools/node/*/etc/npmrc .bun/etc/npmrc
    .pypirc .pip .config/pip .config/uv .local/share/uv/credentials .config/pypoetry/auth.toml .condarc
    miniconda3/.condarc miniconda3/pip.conf anaconda3/.condarc anaconda3/pip.conf miniforge3/.condarc
    miniforge3/pip.conf .pyenv/versions/*/pip.conf
    .cargo/credentials .cargo/credentials.toml .gem/credentials .local/share/gem/credentials .bundle/config
    .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .sbt/.credentials .ivy2/.credentials
    .composer/auth.json .config/composer/auth.json .nuget/NuGet.Config .nuget/NuGet .dotnet/corefx/cryptography
    .microsoft/usersecrets .aspnet .hex/hex.config .config/dart/pub-credentials.json .pub-cache/credentials.json
    .cabal/config .stack/upload .nimble/github_api_token .foundry/keystores .julia/servers`),
  // models and assistants
  ...namesIn(`
    .huggingface .cache/huggingface/token .kaggle .claude/.credentials.json .claude.json .codex/auth.json
    .gemini/oauth_creds.json .local/share/opencode/auth.json .config/anthropic`),
  // browsers, mail, and recorded input
  ...namesIn(`
    .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge
    .bash_history .zsh_history .histfile .python_history .node_repl_history .psql_history .mysql_history
    .rediscli_history .local/share/fish`),
]

function namesIn(list: string): readonly string[] {
  return list.trim().split(/\s+/)
}
