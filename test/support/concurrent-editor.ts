import { createHash } from "node:crypto"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import type { Random } from "../soak/random.ts"
import { startAcode } from "./acode.ts"
import { eventually } from "./eventually.ts"
import { planText } from "./plan-workspace.ts"
import { taggedProcesses } from "./processes.ts"
import { type TempWorkspace, tempWorkspace } from "./temp-workspace.ts"

/** Files that only the editor writes, and files that the command writes as well. */
const own = ["e0.txt", "e1.txt", "d/e2.txt", "d/e3.txt"]
const shared = ["c0.txt", "c1.txt", "d/c2.txt"]

/** Writes slowly, so that the editor gets in between. */
const script =
  "for i in 1 2 3; do echo $$ $i > c0.txt; echo $$ $i > d/c2.txt; sleep 0.02; echo $i > made$i.txt; done; rm -f c1.txt"

/**
 * One workspace in which plans run and are undone while a person edits, saves, creates, deletes, moves, commits and
 * switches branches; plan runs and undos are killed at random. Returns what the person wrote last to a path and is
 * neither there, nor in git, nor comes back from a checkpoint.
 */
export async function editedRounds(rounds: number, random: Random): Promise<readonly string[]> {
  using workspace = tempWorkspace({
    git: true,
    files: Object.fromEntries([...own, ...shared].map(path => [path, `first ${path}\n`])),
  })
  const acode = (...args: readonly string[]) => acodeIn(workspace, random, ...args)
  const plan = join(workspace.outside, "plan.json")
  writeFileSync(plan, planText([["run_command", { argv: ["sh", "-c", script] }]], "edited"))
  await acode("plan", "approve", plan).ended
  const editor = new Editor(workspace.root, random)
  const found: string[] = []
  for (let round = 0; round < rounds; round++) {
    await editor.while(own, async () => {
      await acode("plan", "run", plan).killedSometimes()
      await eventually("its processes are gone", () => taggedProcesses().length === 0)
    })
    await acode("session", "list").ended
    await editor.while([...own, ...shared], async () => {
      const also = random.whole(2) === 0 ? await doubtful(acode) : []
      await acode("session", "undo", ...also).killedSometimes()
      await acode("session", "undo", ...also).ended
    })
    for (const [path, content] of editor.wrote)
      if (!(await isKept(workspace, acode, path, content)))
        found.push(`round ${round}: ${path} ${content.trim()}`)
  }
  return found
}

type Acode = (...args: readonly string[]) => ReturnType<typeof acodeIn>

async function doubtful(acode: Acode): Promise<readonly string[]> {
  const { stdout, exitCode } = await acode("session", "undo", "--preview", "--json").ended
  if (exitCode !== 0) return []
  const { foreign } = JSON.parse(stdout) as { readonly foreign: readonly string[] }
  return foreign.flatMap(path => ["--also", path])
}

function acodeIn({ root, environment }: TempWorkspace, random: Random, ...args: readonly string[]) {
  const running = startAcode(args, { cwd: root, env: environment })
  return {
    ended: running.ended,
    killedSometimes: async () => {
      if (random.whole(3) === 0) {
        await Promise.race([running.ended, Bun.sleep(random.whole(1_200))])
        running.kill("SIGKILL")
      }
      await running.ended
    },
  }
}

/** A person at an editor: what they wrote last to each path is remembered. */
class Editor {
  readonly wrote = new Map<string, string>()
  private count = 0
  private isBusy = false

  constructor(
    private readonly root: string,
    private readonly random: Random,
  ) {}

  /** Edits some of these paths and new ones until the work is done. */
  async while(paths: readonly string[], work: () => Promise<void>): Promise<void> {
    this.isBusy = true
    const editing = this.edit(paths)
    try {
      await work()
    } finally {
      this.isBusy = false
      await editing
    }
  }

  private async edit(paths: readonly string[]): Promise<void> {
    while (this.isBusy) {
      this.step(this.random.oneOf([...paths, `n${this.random.whole(4)}.txt`]))
      await Bun.sleep(this.random.whole(25))
    }
  }

  private step(path: string): void {
    const kind = this.random.whole(20)
    if (kind < 8) this.save(path, at => writeFileSync(at, this.text(path)))
    else if (kind < 14) this.save(path, at => this.saveByRename(at, path))
    else if (kind < 16) this.remove(path)
    else if (kind < 18) this.move(path)
    else if (kind === 18) this.git("commit", "-qam", "mine")
    else this.git("switch", "-qC", this.random.oneOf(["one", "two"]))
  }

  private text(path: string): string {
    const text = `hers ${++this.count} ${path}\n`
    this.wrote.set(path, text)
    return text
  }

  private save(path: string, write: (at: string) => void): void {
    const at = join(this.root, path)
    mkdirSync(dirname(at), { recursive: true })
    if (!lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) write(at)
  }

  private saveByRename(at: string, path: string): void {
    writeFileSync(`${at}.swp`, this.text(path))
    renameSync(`${at}.swp`, at)
  }

  private remove(path: string): void {
    this.wrote.delete(path)
    rmSync(join(this.root, path), { force: true })
  }

  /** What is moved has its old content under another name, and whatever had that name is gone by her own hand. */
  private move(path: string): void {
    const [from, to] = [join(this.root, path), `m${this.random.whole(3)}.txt`]
    if (!existsSync(from)) return
    this.wrote.delete(path)
    renameSync(from, join(this.root, to))
    this.wrote.set(to, readFileSync(join(this.root, to), "utf8"))
  }

  private git(...args: readonly string[]): void {
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]
    Bun.spawnSync(["git", ...identity, ...args], { cwd: this.root, stderr: "ignore", stdout: "ignore" })
  }
}

async function isKept(
  workspace: TempWorkspace,
  acode: Acode,
  path: string,
  content: string,
): Promise<boolean> {
  const at = join(workspace.root, path)
  const isThere = () => existsSync(at) && readFileSync(at, "utf8") === content
  if (isThere() || isInGit(workspace.root, content)) return true
  for (const id of checkpointsWith(workspace.root, path, content)) {
    const before = existsSync(at) ? readFileSync(at) : null
    await acode("checkpoint", "restore", id, path).ended
    const isBack = isThere()
    if (before === null) rmSync(at, { force: true })
    else writeFileSync(at, before)
    if (isBack) return true
  }
  return false
}

function isInGit(root: string, content: string): boolean {
  const hash = createHash("sha1")
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest("hex")
  return Bun.spawnSync(["git", "cat-file", "-e", hash], { cwd: root, stderr: "ignore" }).exitCode === 0
}

/** The newest first; those with something displaced may hold more than they say. */
function checkpointsWith(root: string, path: string, content: string): readonly string[] {
  const directory = join(root, ".agent/checkpoints/manifests")
  const sha256 = createHash("sha256").update(content).digest("hex")
  const isDisplaced = (id: string) => existsSync(join(root, ".agent/checkpoints/displaced", id))
  return readdirSync(directory)
    .map(name => name.replace(".json", ""))
    .filter(id => id.startsWith("chk_") || id.startsWith("cal_"))
    .filter(id => {
      const text = readFileSync(join(directory, `${id}.json`), "utf8")
      return text.includes(sha256) || (text.includes(`"${path}"`) && isDisplaced(id))
    })
    .toSorted()
    .toReversed()
}
