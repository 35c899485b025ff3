import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import type { SandboxChoice } from "../../../src/domain/command.ts"
import { command } from "../../../src/domain/command-validation.ts"
import { eventually } from "../eventually.ts"
import { type TempWorkspace, tempWorkspace } from "../workspace/temp-workspace.ts"
import { type HostileCommand, scriptOf } from "./hostile-commands.ts"

/**
 * Runs a hostile command in a workspace whose git is configured in every way that names files of it, and real git as
 * the person in every directory, while the command still runs and after it. Returns what ran that must not.
 */
export async function ranByGit(hostile: HostileCommand, sandbox: SandboxChoice): Promise<readonly string[]> {
  using workspace = tempWorkspace()
  const person = { ...workspace.environment, HOME: join(workspace.outside, "home"), GIT_TERMINAL_PROMPT: "0" }
  if (hostile.isWithoutRepository === true) prepareFiles(workspace)
  else prepare(workspace, person)
  const canary = join(workspace.outside, "canary")
  const environment = readEnvironment(person)
  using wiring = new Wiring({ environment, workspace: workspace.root, configFile: undefined })
  const runner = await wiring.runner()
  const argv = command("/bin/sh").withArguments("-c", scriptOf(hostile, canary)).build()
  const found: string[] = []
  const look = async (when: string) => {
    await gitEverywhere(workspace, person)
    if (existsSync(canary)) found.push(`${hostile.name}: git ran what it planted, ${when}`)
  }
  let isOver = false
  const running = runner.execute(argv, { sandbox, timeoutMs: 60_000 }).finally(() => {
    isOver = true
  })
  const at = (path: string) => Buffer.from(`${workspace.root}/${path}`, "latin1")
  const isConfined = sandbox !== "none"
  const isCalm = () => !isConfined || isOver || !hostile.plants.some(path => existsSync(at(path)))
  try {
    await eventually("it has planted", () => isOver || existsSync(at("planted")))
    if (hostile.isRelentless === undefined) {
      await eventually("nothing is left of it", isCalm)
      await look("while it ran")
    } else if (isConfined) await eventually("it was ended", () => isOver)
  } catch (error) {
    found.push(`${hostile.name}: ${String(error)}`)
  } finally {
    writeFileSync(join(workspace.root, "go"), "")
  }
  const { result } = await running
  if (isConfined && result.error?.code === "ACODE-SEC-003" && hostile.isRelentless === undefined)
    found.push(`${hostile.name}: ${result.error.message}`)
  if (found.length === 0) await look("after it")
  const top = Bun.spawnSync(["git", "status"], { cwd: workspace.root, env: person })
  if (top.exitCode !== 0 && hostile.isWithoutRepository === undefined)
    found.push(`${hostile.name}: git status fails afterwards: ${top.stderr.toString()}`)
  return found
}

const settings = `
[user]
	name = Person
	email = person@example.invalid
[protocol "file"]
	allow = always
`

/** Everything that a configuration can name inside of a workspace; some of it is there and some is not. */
const projectSettings = `
[core]
	hooksPath = .githooks
	fsmonitor = tools/watch
	attributesFile = config/attributes
[include]
	path = ../shared.gitconfig
[includeIf "gitdir:**"]
	path = ../config/more.gitconfig
[filter "fmt"]
	clean = sh tools/filter.sh
[diff "txt"]
	textconv = tools/textconv
`

/** Writes a workspace that git does not know, for a person without settings. */
function prepareFiles({ outside, write }: TempWorkspace): void {
  mkdirSync(join(outside, "home"))
  write("a.txt", "one\n")
  write("src/index.ts", "export {}\n")
}

function prepare(workspace: TempWorkspace, person: Readonly<Record<string, string>>): void {
  const { root, outside, write } = workspace
  mkdirSync(join(outside, "home"))
  writeFileSync(join(outside, "home/.gitconfig"), settings)
  write("a.txt", "one\n")
  write("src/index.ts", "export {}\n")
  write("docs/readme.md", "# docs\n")
  write("data/objects/one", "1\n")
  write("data/refs/two", "2\n")
  write("config/more.gitconfig", "[pull]\n\trebase = true\n")
  write("tools/watch", "#!/bin/sh\nexit 1\n")
  write("tools/filter.sh", "cat\n")
  write(".gitattributes", "*.txt filter=fmt diff=txt\n")
  write(".gitignore", "node_modules\n.venv\n")
  write("node_modules/pkg/index.js", "")
  mkdirSync(Buffer.from(`${root}/old\xff`, "latin1"))
  const script = `set -e
git init -q -b main ../library && git -C ../library commit -q --allow-empty -m one
git init -q -b main . && chmod +x tools/watch
for name in lib lib2; do git submodule --quiet add ../library $name; done
git add -A && git commit -qm first && git clone -q --bare . ../origin.git
git submodule --quiet deinit -f lib lib2 && rmdir lib2 && rm -rf .git/modules
cat >> .git/config`
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", script], {
    cwd: root,
    env: { ...person },
    stdin: Buffer.from(projectSettings),
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
}

/** Runs git in each directory, as a person would who changes into it, whatever its name is. */
async function gitEverywhere(
  { root }: TempWorkspace,
  person: Readonly<Record<string, string>>,
): Promise<void> {
  const look =
    'cd "$1" && { git status; git diff; git log -1 -p; git fetch -q ../origin.git; git status -s; }'
  const find = [
    "find",
    ".",
    "-name",
    ".git",
    "-prune",
    "-o",
    "-type",
    "d",
    "-exec",
    "sh",
    "-c",
    look,
    "sh",
    "{}",
    ";",
  ]
  const child = Bun.spawn(find, {
    cwd: root,
    env: { ...person },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  })
  await child.exited
}
