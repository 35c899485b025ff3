import { homeCredentials } from "../home-credentials.ts"

/**
 * Classes of paths: `noWrite` may be read and never written or deleted; `hidden` may not be read or listed either;
 * `asked` may be written only when the user allows it. A path that no rule names is open.
 */
export type PathClass = "open" | "asked" | "noWrite" | "hidden"

export interface ProtectedRule {
  readonly class: Exclude<PathClass, "open">
  /** The reason, for the user who is refused. */
  readonly reason: string
  /**
   * Patterns of names at any depth. `*` stands for anything but a slash; a slash at the end names a directory with
   * everything below it; without one only the last name of a path is compared.
   */
  readonly patterns: readonly string[]
}

export const protectedRules: readonly ProtectedRule[] = [
  {
    class: "hidden",
    reason: "it holds environment secrets",
    // Directories too: a virtual environment may be called `.env`, and its name does not distinguish it from the file.
    patterns: [".env/", ".env.*/"],
  },
  {
    class: "hidden",
    reason: "it holds secrets",
    patterns: [
      "secrets/",
      "private/",
      "*.secret",
      "*.secrets",
      "*secret*.json",
      "*credential*.json",
      "token",
    ],
  },
  {
    class: "hidden",
    reason: "it holds private keys",
    patterns: ["*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "id_rsa", "id_ed25519"],
  },
  {
    class: "hidden",
    reason: "it holds credentials",
    patterns: [
      "*.tfstate",
      ".netrc",
      ".pypirc",
      ".git-credentials",
      ".ssh/",
      ".aws/",
      ".kube/",
      ".docker/config.json",
    ],
  },
  {
    class: "noWrite",
    reason: "git would run or trust files there",
    // `git~1` is the short name of `.git` on Windows.
    patterns: [".git/", "git~1/", ".gitmodules", ".gitconfig"],
  },
  { class: "noWrite", reason: "acode reads instructions from files there", patterns: [".agent/"] },
  {
    class: "noWrite",
    reason: "a version control system would run or trust files there",
    patterns: [".hg/", ".hgsub", ".jj/", ".svn/", ".bzr/", ".sl/", "_darcs/"],
  },
  {
    class: "noWrite",
    reason: "an editor or an assistant would run files there",
    patterns: namesIn(`
      .vscode/ *.code-workspace .theia/ *.sublime-project .idea/ .zed/ .helix/ .fleet/ .nova/ .devcontainer/ .devcontainer.json .gitpod.yml
      .exrc .vimrc .gvimrc .nvimrc .nvim.lua .dir-locals.el .dir-locals-2.el
      .cursor/ .mcp.json .claude/ .codex/ .gemini/ .agents/ .opencode/ opencode.json opencode.jsonc .windsurf/ .roo/
      .roomodes .cline/ .continue/ .kilocode/ .kiro/ .amazonq/ .augment/ .junie/ .trae/ .qwen/ .factory/ .goose/
      .amp/ .crush/ .crush.json crush.json .aider.conf.yml`),
  },
  {
    class: "noWrite",
    reason: "a tool would run files there on its next use",
    patterns: namesIn(`
      .npmrc .yarnrc* .yarn/releases/ .yarn/plugins/ .pnp.* .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js .mvn/ .cargo/config* .ripgreprc .husky/
      .envrc .direnv/*.rc .autoenv .autoenv.zsh .mise.toml .mise.*.toml mise.toml mise.*.toml .mise/ mise/config.toml
      mise/config.*.toml .config/mise/ .rtx.toml
      lefthook-local.* .lefthook-local.* .lefthook-local/
      .irbrc .pryrc .Rprofile .Renviron .ghci .iex.exs .ocamlinit .octaverc .gdbinit .lldbinit`),
  },
  {
    class: "noWrite",
    reason: "a shell runs it when it starts",
    patterns: [
      ".profile",
      ".bashrc",
      ".bash_profile",
      ".bash_login",
      ".bash_logout",
      ".bash_aliases",
      ".zshrc",
      ".zshenv",
      ".zprofile",
      ".zlogin",
      ".zlogout",
      ".kshrc",
      ".mkshrc",
      ".cshrc",
      ".tcshrc",
      ".login",
      ".logout",
      ".inputrc",
      "config.fish",
    ],
  },
  {
    class: "asked",
    reason: "it defines the steps of continuous integration",
    patterns: namesIn(`
      .github/ .gitlab-ci.yml .gitlab/ .gitea/ .forgejo/ .circleci/ azure-pipelines.yml azure-pipelines.yaml
      .azure-pipelines/ Jenkinsfile bitbucket-pipelines.yml .buildkite/ .travis.yml .drone.yml .woodpecker.yml
      .woodpecker/ .cirrus.yml .cirrus.star .semaphore/ .teamcity/ .tekton/ .builds/ .build.yml appveyor.yml
      .appveyor.yml`),
  },
  {
    class: "asked",
    reason: "it instructs assistants or runs before commits",
    patterns: namesIn(`
      AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md CRUSH.md WARP.md .cursorrules
      .windsurfrules .clinerules/ .clinerules-* .roorules* .goosehints .rules
      .pre-commit-config.yaml lefthook.yml lefthook.* .lefthook.* .lefthook/ .overcommit.yml .simple-git-hooks.* simple-git-hooks.*
      .githooks/`),
  },
]

function namesIn(list: string): readonly string[] {
  return list.trim().split(/\s+/)
}

/** Names that resemble protected ones and are open. */
export const openNames: readonly string[] = [".env.example"]

/** Places below the user's home directory, outside the workspace, that are not read, listed or written. */
export const homeEntries: readonly string[] = [
  ...homeCredentials.map(entry => entry.toLowerCase()),
  "library",
]

/** Directories of the system that no tool uses. A `*` stands for one directory. */
export const systemEntries: readonly string[] = [
  "/etc",
  "/var/log",
  "/root",
  "/system",
  "/library",
  "c:/windows",
  "c:/programdata",
  "c:/users/*/appdata",
]
