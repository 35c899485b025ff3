import type { Usage } from "./command-usage.ts"
import type { ShippedRule } from "./rules-shipped-files.ts"

const installs: Usage = { network: true, ask: "it installs or publishes packages" }
const runsOwn: Usage = {
  asked:
    "--script-shell --shell --node-options --prefix --userconfig --globalconfig --cwd --dir --use-node-version",
  plain: "--silent --sh --s --no --node",
}
const lists: Usage = { asked: "--userconfig --globalconfig --registry --prefix --global-dir" }

const npmOptions = {
  valued:
    "-w --workspace --loglevel --prefix -C --userconfig --script-shell --node-options --filter -F --cwd",
  asked:
    "--script-shell --shell --node-options --prefix -C --userconfig --globalconfig --cwd --dir --use-node-version -g " +
    "--global --registry --init-module --git --editor --viewer --browser",
  plain: "--silent --s --no --if-present --include-workspace-root --ignore-scripts --version --verbose",
}

function every(names: string, usage: Usage): Record<string, Usage> {
  return Object.fromEntries(names.split(" ").map(name => [name, usage]))
}

const scripts = "test t tst run run-script rum urn build lint format typecheck check start stop restart"
const installing =
  "install i in ins add ci clean-install install-test it update up upgrade uninstall un remove rm r link ln dedupe " +
  "prune publish unpublish deprecate dist-tag owner access login logout adduser token star init create exec x dlx " +
  "audit outdated view info show search fund rebuild rb pack version set-script pkg edit explore import patch " +
  "global self-update setup env server deploy fetch store config cache dedup autoclean"

/** Package managers: the workspace's own scripts are builds and tests, everything that fetches is asked. */
export const packageRules: readonly ShippedRule[] = [
  {
    rule: "packages",
    programs: "npm",
    usage: {
      ...npmOptions,
      commands: {
        ...every(installing, installs),
        ...every("test t tst run run-script rum urn start", runsOwn),
        ...every("ls list la ll explain why root prefix bin help query", lists),
      },
    },
  },
  {
    rule: "packages",
    programs: "yarn pnpm",
    usage: {
      ...npmOptions,
      commands: {
        ...every(installing, installs),
        ...every(scripts, runsOwn),
        ...every("list ls ll why licenses", lists),
      },
    },
  },
  {
    rule: "packages",
    programs: "bun",
    usage: {
      ...npmOptions,
      asked: `${npmOptions.asked} -e --eval -p --print -r --preload --require --import --env-file --config --inspect`,
      plain: `${npmOptions.plain} --revision`,
      commands: {
        ...every(installing, installs),
        test: { asked: "-r --preload --require --import --env-file --config --inspect" },
        run: { ...runsOwn, asked: `${runsOwn.asked} -r --preload --require --import --env-file` },
        build: { outputs: "--outfile --outdir", asked: "--compile-executable-path --env-file --plugin" },
      },
    },
  },
  {
    rule: "packages",
    programs: "composer",
    usage: { commands: { ...every("validate show licenses", lists), ...every("test lint check", runsOwn) } },
  },
  {
    rule: "packages",
    programs: "bundle bundler",
    usage: {
      commands: {
        ...every("check list show info platform", lists),
        ...every("install update add", installs),
      },
    },
  },
  {
    rule: "packages",
    programs: "pip pip3 pipx",
    usage: {
      asked: "--python --proxy --log --cert --config-settings",
      commands: {
        ...every("list show freeze check help inspect", lists),
        ...every("install uninstall download wheel search index cache", installs),
      },
    },
  },
  {
    rule: "packages",
    programs:
      "poetry pipenv uv pdm rye hatch conda mamba gem cpan opam luarocks nuget cocoapods pod hex vcpkg conan",
    usage: {
      commands: {
        ...every("check list show licenses version", lists),
        ...every("install add remove update lock sync publish upload push fetch get download", installs),
      },
    },
  },
  {
    rule: "packages",
    programs: "npx bunx pnpx uvx corepack volta nvm fnm asdf mise rustup pyenv rbenv sdk n",
    usage: { network: true, ask: "it may fetch a program and run it" },
  },
]
