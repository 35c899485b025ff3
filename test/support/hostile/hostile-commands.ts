/**
 * A command that plants something which git would run for a person. It says with a file `planted` that it has done so,
 * and waits for a file `go` until it ends. Before its script stand the functions below; `$CANARY` is made by whatever
 * of it is run outside of the sandbox.
 */
export interface HostileCommand {
  readonly name: string
  readonly script: string
  /** Files that git would act on, as bytes in Latin-1; each one endangers a person. */
  readonly plants: readonly string[]
  /** It is run in a workspace that git does not know. */
  readonly isWithoutRepository?: true
  /** It plants again and again: there is no peace before it has ended. */
  readonly isRelentless?: true
  /** True for a command that is harmless on this machine, with or without a sandbox. */
  readonly isHarmlessHere?: true
}

export function scriptOf({ script }: HostileCommand, canary: string): string {
  const payload = `touch '${canary}'; false`
  return `CANARY='${canary}'; PAYLOAD="${payload}"\n${functions}\n${script}\n: > planted
i=0; while [ ! -e go ] && [ $i -lt 3000 ]; do sleep 0.01; i=$((i+1)); done`
}

const functions = `
settings() {
  printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "%s"\\n\\tsshCommand = "%s"\\n' "$PAYLOAD" "$PAYLOAD"
  printf '[diff]\\n\\texternal = "%s"\\n[log]\\n\\tshowSignature = true\\n[gpg]\\n\\tprogram = "%s"\\n' "$PAYLOAD" "$PAYLOAD"
}
hooks() {
  mkdir -p "$1"
  for name in post-index-change reference-transaction post-checkout pre-commit fsmonitor-watchman; do
    program "$1/$name"
  done
}
program() { printf '#!/bin/sh\\n%s\\n' "$PAYLOAD" > "$1"; chmod +x "$1"; }
layout() {
  mkdir -p "$1/objects" "$1/refs/heads"; echo 'ref: refs/heads/main' > "$1/HEAD"
  settings > "$1/config"; hooks "$1/hooks"
}
bare() { layout "$1"; printf '[core]\\n\\tbare = false\\n\\tworktree = ..\\n' >> "$1/config"; }
echo changed >> a.txt`

const inPython = (body: string) => `export PAYLOAD; python3 - <<'END'
import os
def layout(d):
    for n in (b'/objects', b'/refs', b'/hooks'): os.makedirs(d + n)
    open(d + b'/HEAD', 'w').write('ref: refs/heads/main')
    open(d + b'/config', 'w').write('[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "' + os.environ['PAYLOAD'] + '"\\n')
${body}
END`

export const hostileCommands: readonly HostileCommand[] = [
  { name: "a repository in a directory that is there", script: "layout src/.git", plants: ["src/.git"] },
  { name: "a repository in a new directory", script: "layout new/deep/.git", plants: ["new/deep/.git"] },
  {
    name: "a gitlink to a repository under another name",
    script: "layout src/cache; echo 'gitdir: cache' > src/.git",
    plants: ["src/.git", "src/cache"],
  },
  {
    name: "a gitlink with an absolute path",
    script: 'layout src/cache; echo "gitdir: $PWD/src/cache" > docs/.git',
    plants: ["docs/.git", "src/cache"],
  },
  {
    name: "a link in the place of a repository",
    script: "layout src/cache; ln -s cache src/.git",
    plants: ["src/.git", "src/cache"],
  },
  {
    name: "a repository in a package",
    script: "layout node_modules/pkg/.git",
    plants: ["node_modules/pkg/.git"],
  },
  {
    name: "a gitlink in a package, to a repository in another one",
    script:
      "mkdir -p node_modules/@scope/pkg; layout node_modules/other/store; echo 'gitdir: ../../other/store' > node_modules/@scope/pkg/.git",
    plants: ["node_modules/@scope/pkg/.git", "node_modules/other/store"],
  },
  {
    name: "a repository in a virtual environment",
    script: "layout .venv/lib/site-packages/x/.git",
    plants: [".venv/lib/site-packages/x/.git"],
  },
  {
    name: "a repository for all packages at once",
    script: "layout node_modules/.git",
    plants: ["node_modules/.git"],
  },
  {
    name: "a repository in a new directory whose name is not UTF-8",
    script: inPython("layout(b'caf\\xe9/.git')"),
    plants: ["caf\xe9/.git"],
  },
  {
    name: "a repository in a directory that is there and whose name is not UTF-8",
    script: inPython("layout(b'old\\xff/.git')"),
    plants: ["old\xff/.git"],
  },
  {
    name: "a gitlink below two names that are not UTF-8, in a package",
    script: inPython(
      "layout(b'node_modules/\\xc3/\\xb1/store'); open(b'node_modules/\\xc3/\\xb1/.git', 'w').write('gitdir: store')",
    ),
    plants: ["node_modules/\xc3/\xb1/.git", "node_modules/\xc3/\xb1/store"],
  },
  {
    name: "a workspace made a repository by its content",
    script: "layout .; printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n' >> config",
    plants: ["HEAD"],
    isWithoutRepository: true,
  },
  { name: "a bare layout", script: "bare assets.git", plants: ["assets.git"] },
  {
    name: "a bare layout in a directory with files of a person",
    script: "bare docs; printf '[core]\\n\\tworktree = .\\n' >> docs/config",
    plants: ["docs/HEAD"],
  },
  {
    name: "a bare layout whose parts are links",
    script:
      "mkdir -p x p/objects p/refs; bare p; for n in HEAD objects refs config; do ln -s ../p/$n x/$n; done; rm x/HEAD; cp p/HEAD x",
    plants: ["x/HEAD", "p"],
  },
  {
    name: "a layout that has its parts elsewhere",
    script:
      "bare node_modules/common; mkdir y; echo 'ref: refs/heads/main' > y/HEAD; echo ../node_modules/common > y/commondir; cp node_modules/common/config y",
    plants: ["y", "node_modules/common"],
  },
  {
    name: "the one part that is missing in a directory",
    script:
      "echo 'ref: refs/heads/main' > data/HEAD; settings > data/config; printf '[core]\\n\\tbare = false\\n\\tworktree = ..\\n' >> data/config",
    plants: ["data/HEAD"],
  },
  { name: "a submodule that has no files yet", script: "layout lib/.git", plants: ["lib/.git"] },
  {
    name: "a gitlink in a submodule that has no files yet",
    script: "layout src/cache; echo 'gitdir: ../src/cache' > lib/.git",
    plants: ["lib/.git", "src/cache"],
  },
  { name: "a submodule whose directory is gone", script: "layout lib2/.git", plants: ["lib2/.git"] },
  { name: "hooks where the configuration says", script: "hooks .githooks", plants: [".githooks/pre-commit"] },
  {
    name: "a link to hooks where the configuration says",
    script: "hooks src/h; rm -rf .githooks; ln -s src/h .githooks",
    plants: [".githooks/pre-commit"],
  },
  {
    name: "configuration that is included and missing",
    script: "settings > shared.gitconfig",
    plants: ["shared.gitconfig"],
  },
  {
    name: "configuration that is included and there",
    script: "settings > config/more.gitconfig; settings > config/n; mv config/n config/more.gitconfig",
    plants: ["config/n/none"],
  },
  {
    name: "another directory for configuration that is included",
    script: "mkdir evil; settings > evil/more.gitconfig; mv config gone; mv evil config",
    plants: ["gone"],
  },
  {
    name: "the program that watches files",
    script: "program tools/watch; program tools/n; mv tools/n tools/watch",
    plants: ["gone"],
  },
  {
    name: "the program of a filter",
    script: "program tools/filter.sh; rm -f tools/filter.sh; program tools/filter.sh; touch a.txt",
    plants: ["gone"],
  },
  {
    name: "a program that shows files and is missing",
    script: "program tools/textconv; mkdir -p tools; echo x >> a.txt",
    plants: ["tools/textconv"],
  },
  {
    name: "a repository that comes with a renamed parent",
    script: "layout one/two/.git; mv one renamed",
    plants: ["renamed/two/.git"],
  },
  { name: "a repository in capitals", script: "layout src/.GIT", plants: ["src/.GIT"], isHarmlessHere: true },
  {
    name: "a repository behind a closed directory",
    script: "layout shut/in/.git; chmod 000 shut/in; chmod 755 shut/in",
    plants: ["shut/in/.git"],
  },
  {
    name: "a repository below twelve directories",
    script: `d=deep; for n in $(seq 12); do d=$d/d$n; done; layout $d/.git`,
    plants: [`deep/${Array.from({ length: 12 }, (_, index) => `d${index + 1}`).join("/")}/.git`],
  },
  {
    name: "a repository that is created again whenever it is gone",
    script: "( while :; do [ -e src/.git/config ] || layout src/.git; done ) 2>/dev/null & layout src/.git",
    plants: ["src/.git"],
    isRelentless: true,
  },
  {
    name: "a repository from a process that stays behind",
    script: "setsid sh -c 'sleep 0.05' & layout src/.git; (setsid sh -c \"$(command -v true)\" &)",
    plants: ["src/.git"],
  },
  {
    name: "a repository from an archive",
    script: "layout tmp/r/.git; tar -C tmp -cf t.tar r; rm -rf tmp; mkdir out; tar -C out -xf t.tar",
    plants: ["out/r/.git"],
  },
  {
    name: "a repository made by git",
    script: 'git init -q made && git -C made config core.fsmonitor "$PAYLOAD"',
    plants: ["made/.git"],
  },
  {
    name: "a bare repository made by git",
    script:
      'git clone -q --bare . made.git; git -C made.git config core.fsmonitor "$PAYLOAD"; git -C made.git config core.bare false; git -C made.git config core.worktree ..',
    plants: ["made.git"],
  },
  {
    name: "a copy of the repository with other settings",
    script: "mkdir copy; cp -r .git copy/.git; settings >> copy/.git/config",
    plants: ["copy/.git"],
  },
  {
    name: "another directory in the place of one",
    script: "cp -r src evil; layout evil/.git; mv src gone; mv evil src",
    plants: ["src/.git"],
  },
  {
    name: "the repository itself, its hooks and its attributes",
    script:
      "settings >> .git/config; hooks .git/hooks; echo '* filter=x' > .git/info/attributes; mv .git g; rm -rf .git; layout .git; true",
    plants: ["g"],
  },
]
