import { chmodSync, linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { systemIds } from "../../../src/base/clock.ts"
import { pathFromBytes } from "../../../src/base/path-bytes.ts"
import { restoredExitCode } from "../../../src/cli/render/restored-text.ts"
import { contentsIn, planUndo, type Undone, undo } from "../../../src/engine/undo.ts"
import type { Random } from "../../soak/random.ts"
import { runAcode } from "../acode.ts"
import { planRoom } from "../plan/plan-room.ts"
import { type PlanStepText, planWorkspace } from "../plan/plan-workspace.ts"
import { initRepository } from "./temp-workspace.ts"

/** Names as bytes, one character each: with spaces, quotes and line ends, no UTF-8, and one that git ignores. */
const names = ["a", "b", "c d", "new\nline", "it's", "\xff\xfe", "\xc3\xa9", "-r", "z.ignored"]
const fileModes = [0o644, 0o600, 0o755, 0o444, 0o000, 0o4755]
const directoryModes = [0o755, 0o700, 0o1777, 0o2750, 0o555]
/** Modes that deny access to others, and even to the owner. */
const closedModes = [0o000, 0o300, 0o500]
const texts = ["", "one\n", "two\r\nlines\n", "\0binary\xff", "more than some limits\n".repeat(4)]

/** A workspace in which plans run and are undone. */
interface Place extends Disposable {
  readonly root: string
  run(steps: readonly PlanStepText[]): Promise<unknown>
  undo(): Promise<{ readonly exitCode: number | null; readonly told: readonly string[] }>
}

/**
 * Runs a session in a random tree, whose commands and tools change the tree at random, and undoes it. Returns every
 * path that is not as it was and that the undo did not report.
 */
export async function undoneManifest(random: Random, isProgram = false): Promise<readonly string[]> {
  using place = isProgram ? programPlace() : enginePlace(random)
  if (random.whole(2) === 0) {
    initRepository(place.root)
    writeFileSync(`${place.root}/.gitignore`, "*.ignored\n")
  }
  const modes = isProgram ? [...directoryModes, ...closedModes] : directoryModes
  buildTree(place.root, random, modes)
  const steps = Array.from({ length: 1 + random.whole(3) }, (_, index) =>
    stepOf(place.root, random, index, modes),
  )
  const before = manifest(place.root)
  await place.run(steps)
  const { exitCode, told } = await place.undo()
  const after = manifest(place.root)
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
    path => before.get(path) !== after.get(path),
  )
  const lies = exitCode === 0 ? differing : differing.filter(path => !isTold(told, path))
  return lies.map(path => `${JSON.stringify(path)}: ${before.get(path)} became ${after.get(path)}`)
}

/** Returns whether a path is named by itself, or by a directory it is in. */
function isTold(told: readonly string[], path: string): boolean {
  return told.some(
    each => each === path || each === `${path}/` || (each.endsWith("/") && path.startsWith(each)),
  )
}

/** Runs the session in this process, which is fast. */
function enginePlace(random: Random): Place {
  const room = planRoom({ checkpointLimits: random.whole(4) === 0 ? { fileBytesMax: 20 } : {} })
  const { checkpoints, store, log, workspace } = room
  const { artifacts } = store
  const parts = { sessionId: log.sessionId, checkpoints, artifacts, ids: systemIds, workspace, others: [] }
  return {
    root: room.root,
    run: steps => room.run(steps),
    undo: async () => {
      const plan = await planUndo(parts, room.events())
      const byCommands = new Set(plan.doubts.filter(doubt => doubt.isOnlyByCommand).map(({ path }) => path))
      const also = new Map([...contentsIn(plan)].filter(([path]) => byCommands.has(path)))
      const undone = await undo(parts, plan, also, work => log.whileOwned(work))
      return { exitCode: restoredExitCode(undone), told: toldBy(undone) }
    },
    [Symbol.dispose]: () => room[Symbol.dispose](),
  }
}

function toldBy({ foreign, blocked }: Pick<Undone, "foreign" | "blocked">): readonly string[] {
  return [...foreign, ...blocked.map(({ path }) => path)]
}

/** Runs the program as people do, and as a user to whom permissions apply, which root is not. */
function programPlace(): Place {
  const { workspace, planFile, plan, [Symbol.dispose]: dispose } = planWorkspace()
  const through = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
  const acode = (...args: readonly string[]) =>
    runAcode(args, { cwd: workspace.root, env: { ...workspace.environment }, through })
  return {
    root: workspace.root,
    run: async steps => {
      plan(steps)
      await acode("plan", "approve", planFile)
      await acode("plan", "run", planFile)
    },
    undo: async () => {
      const { exitCode, stdout } = await acode("session", "undo", "--commands", "--json")
      // An undo with nothing left to do is an error and reports no path.
      const { foreign = [], blocked = [] } = stdout === "" ? {} : (JSON.parse(stdout) as Partial<Undone>)
      return { exitCode, told: toldBy({ foreign, blocked }) }
    },
    [Symbol.dispose]: () => {
      Bun.spawnSync(["chmod", "-R", "u+rwx", workspace.root])
      dispose()
    },
  }
}

/** Type, mode, target and content of everything in the tree, by GNU find and an independent hash. */
function manifest(root: string): ReadonlyMap<string, string> {
  const { stdout } = Bun.spawnSync(
    [
      "find",
      ".",
      "(",
      "-path",
      "./.agent",
      "-o",
      "-path",
      "./.git",
      ")",
      "-prune",
      "-o",
      "-printf",
      "%P\\0%y %m %l\\0",
    ],
    { cwd: root },
  )
  const fields = splitBytes(stdout)
  const found = new Map<string, string>()
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const path = pathFromBytes(fields[index] ?? new Uint8Array())
    const about = Buffer.from(fields[index + 1] ?? []).toString("latin1")
    found.set(path === "" ? "." : path, about)
  }
  const sums = Bun.spawnSync(
    [
      "find",
      ".",
      "-path",
      "./.agent",
      "-prune",
      "-o",
      "-path",
      "./.git",
      "-prune",
      "-o",
      "-type",
      "f",
      "-exec",
      "sha256sum",
      "-z",
      "--",
      "{}",
      "+",
    ],
    { cwd: root },
  )
  for (const line of splitBytes(sums.stdout)) {
    const path = pathFromBytes(line.subarray(68))
    found.set(path, `${found.get(path)} ${Buffer.from(line.subarray(0, 64)).toString("latin1")}`)
  }
  return found
}

function splitBytes(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from)
    parts.push(bytes.subarray(from, end))
    from = end + 1
  }
  return parts
}

/** A path below the root, as bytes in latin1. */
function somePath(random: Random): string {
  return Array.from({ length: 1 + random.whole(3) }, () => random.oneOf(names)).join("/")
}

function buildTree(root: string, random: Random, modes: readonly number[]): void {
  const at = (path: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")])
  const directories: string[] = []
  for (let count = 3 + random.whole(12); count > 0; count--) {
    const path = somePath(random)
    const parent = path.split("/").slice(0, -1).join("/")
    try {
      if (parent !== "") mkdirSync(at(parent), { recursive: true })
      makeEntry(at(path), random, at)
      if (random.whole(5) === 0) directories.push(parent === "" ? path : parent)
    } catch (error) {
      // The name is taken, or a parent is not a directory.
      if (!(error instanceof Error && "code" in error)) throw error
    }
  }
  for (const path of directories)
    if (lstatSync(at(path)).isDirectory()) chmodSync(at(path), random.oneOf(modes))
}

function makeEntry(path: Buffer, random: Random, at: (path: string) => Buffer): void {
  switch (random.whole(7)) {
    case 0:
      mkdirSync(path, { mode: 0o755 })
      break
    case 1:
      symlinkSync(Buffer.from(random.oneOf([...names, "nowhere", "../a", "/dev/null"]), "latin1"), path)
      break
    case 2:
      linkSync(at(somePath(random)), path)
      break
    case 3:
      makeFifo(path, random.oneOf([0o600, 0o644]))
      break
    default:
      writeFileSync(path, Buffer.from(random.oneOf(texts), "latin1"), { flag: "wx" })
      chmodSync(path, random.oneOf(fileModes))
  }
}

function stepOf(root: string, random: Random, index: number, modes: readonly number[]): PlanStepText {
  if (random.whole(4) === 0) {
    const path = somePath(random).replace(/[^a-z /.]/g, "x")
    return ["write_file", { path, content: random.oneOf(texts.slice(0, 2)) }]
  }
  const lines = Array.from({ length: 1 + random.whole(6) }, () => mutation(random, modes))
  // Names that are no UTF-8 have no place in a plan.
  writeFileSync(`${root}/script${index}.sh`, Buffer.from(`${lines.join("\n")}\nexit 0\n`, "latin1"))
  return ["run_command", { argv: ["sh", `script${index}.sh`] }]
}

/** Returns a line of a shell script. It opens only regular files: a FIFO would make it wait. */
function mutation(random: Random, modes: readonly number[]): string {
  const path = quoted(`./${somePath(random)}`)
  const other = quoted(`./${somePath(random)}`)
  const text = quoted(random.oneOf(texts).replaceAll("\0", ""))
  switch (random.whole(14)) {
    case 0:
    case 1:
      return `rm -rf ${path}`
    case 2:
      return `[ -d ${path} ] || { rm -f ${path}; mkdir -p ${path}; }`
    case 3:
      return `rm -rf ${path}; mkfifo -m ${random.oneOf(["600", "644", "4711"])} ${path}`
    case 4:
      return `rm -rf ${path}; ln -s -- ${other} ${path}`
    case 5:
      return `chmod ${random.oneOf(fileModes).toString(8)} ${path}`
    case 6:
      if (random.whole(5) === 0) return `chmod ${random.oneOf(["700", "711", "1777"])} .`
      return `[ ! -d ${path} ] || chmod ${random.oneOf(modes).toString(8)} ${path}`
    case 7:
      return `mv -f ${path} ${other}`
    case 8:
      return `cp -a ${path} ${other}`
    case 9:
      return `touch -h ${path}`
    case 10:
      return `ln ${path} ${other}`
    case 11:
      return `rm -rf ${path}; printf %s ${text} > ${path}`
    case 12:
      return `rmdir ${path}`
    default:
      return `[ ! -f ${path} ] || printf %s ${text} >> ${path}`
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Makes a FIFO through a program: its arguments are bytes, which the runtime cannot pass. */
function makeFifo(path: Buffer, mode: number): void {
  Bun.spawnSync(["sh"], {
    stdin: Buffer.concat([
      Buffer.from(`mkfifo -m ${mode.toString(8)} -- '`),
      Buffer.from(path.toString("latin1").replaceAll("'", "'\\''"), "latin1"),
      Buffer.from("'\n"),
    ]),
  })
}
