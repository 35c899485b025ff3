import { buildRules } from "./shipped-build.ts"
import { fileRules, outsideRules, type ShippedRule } from "./shipped-files.ts"
import type { Usage } from "./usage.ts"

const diffing: Usage = {
  asked: "--ext-diff --textconv --output --open-files-in-pager --no-index --ident --config",
  plain: "--text --no-indent-heuristic --ignore-all-space --i --id",
  valued:
    "-n -S -G -L -U --max-count --author --since --until --grep --format --after --before --diff-filter",
}
const reading: Usage = { asked: "--output --exec --upload-pack --open-files-in-pager --textconv --filters" }
const writesGit: Usage = { ask: "it changes the repository" }
const talks: Usage = { ask: "it talks to another repository", network: true }
const listing: Usage = {
  operands: "none",
  only:
    "-l --list -a --all -r --remotes -v -vv --verbose --show-current --merged --no-merged --contains --sort " +
    "--format --column --no-column -n --points-at --color --no-color",
}

/**
 * The usage of git: sub-commands that only read are allowed; every one that writes `.git`, and every unknown one, is
 * asked.
 */
export const gitUsage: Usage = {
  valued: "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
  only: "--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --no-replace-objects --version --help -C",
  commands: {
    status: reading,
    log: diffing,
    show: diffing,
    diff: diffing,
    blame: { ...diffing, operands: "free" },
    annotate: diffing,
    shortlog: diffing,
    whatchanged: diffing,
    "diff-tree": diffing,
    "diff-index": diffing,
    "diff-files": diffing,
    "range-diff": diffing,
    cherry: reading,
    grep: { ...reading, asked: "-O --open-files-in-pager --no-index --ext-grep --textconv", plain: "--text" },
    "ls-files": reading,
    "ls-tree": reading,
    "rev-parse": reading,
    "rev-list": reading,
    describe: reading,
    "name-rev": reading,
    "merge-base": reading,
    "cat-file": { asked: "--textconv --filters" },
    "for-each-ref": reading,
    "show-ref": reading,
    "show-branch": reading,
    "count-objects": reading,
    "check-ignore": reading,
    "check-attr": reading,
    "check-mailmap": reading,
    var: reading,
    version: reading,
    branch: listing,
    tag: listing,
    remote: { commands: { "-v": {}, "get-url": {} }, bare: { only: "-v --verbose" }, only: "-v --verbose" },
    stash: { commands: { list: diffing, show: diffing } },
    worktree: { commands: { list: reading } },
    submodule: { commands: { status: reading }, bare: reading },
    notes: { commands: { list: reading, show: reading } },
    reflog: { commands: { show: diffing, exists: reading }, bare: diffing },
    bisect: { commands: { log: reading } },
    config: {
      operands: "none",
      valued: "--get --get-all --get-regexp",
      only: "--get --get-all --get-regexp --list -l --show-origin --show-scope --name-only --local",
    },
    push: talks,
    pull: talks,
    fetch: talks,
    clone: talks,
    "ls-remote": talks,
    "remote-update": talks,
    "send-email": talks,
    "request-pull": talks,
    svn: talks,
    lfs: talks,
    p4: talks,
    daemon: talks,
    "fetch-pack": talks,
    "send-pack": talks,
    "upload-pack": talks,
    "receive-pack": talks,
    archive: { ask: "it can write files and run programs of another repository" },
    add: writesGit,
    commit: {
      ...writesGit,
      asked: "--no-verify -n",
      plain: "--no-edit --no-status --no-post-rewrite --no-gpg-sign --no-signoff --no",
      valued: "-m -F -C -c --message --author --date",
    },
  },
}

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

/** Package managers: the workspace's own scripts are builds and tests; everything that fetches is asked. */
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

/** Incremented when a judgement that is written as code changes, because the data alone would not show it. */
const judgementVersion = 1

const all: readonly ShippedRule[] = [
  ...fileRules,
  ...outsideRules,
  ...buildRules,
  ...packageRules,
  { rule: "git", programs: "git", usage: gitUsage },
]

interface KnownProgram {
  readonly rule: string
  readonly usage: Usage
}

const programs: ReadonlyMap<string, KnownProgram> = new Map(
  all.flatMap(({ rule, programs: names, usage }) =>
    names.split(" ").map((name): [string, KnownProgram] => [name, { rule: `commands.${rule}`, usage }]),
  ),
)

export function knownProgram(name: string): KnownProgram | null {
  return programs.get(name) ?? null
}

/** The input of the policy version: a decision under other rules is another decision. */
export const shippedRules = { judgementVersion, rules: all }
