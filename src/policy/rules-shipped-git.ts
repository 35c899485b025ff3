import type { Usage } from "./command-usage.ts"

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

/** Sub-commands that only read are allowed; everything that writes `.git`, and every unknown one, is asked. */
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
