import { writeFileSync } from "node:fs"
import { systemIds } from "../../../src/base/clock.ts"
import { pathFromBytes } from "../../../src/base/path-bytes.ts"
import { restoredExitCode } from "../../../src/cli/render/restored-text.ts"
import { contentsIn, planUndo, type Undone, undo } from "../../../src/engine/undo.ts"
import type { Random } from "../../soak/random.ts"
import { runAcode } from "../acode.ts"
import { planRoom } from "../plan/plan-room.ts"
import { type PlanStepText, planWorkspace } from "../plan/plan-workspace.ts"
import { splitBytes } from "./overlay-command.ts"
import { buildTree, closedModes, directoryModes, mutation, somePath, texts } from "./random-tree.ts"
import { initRepository } from "./temp-workspace.ts"

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
