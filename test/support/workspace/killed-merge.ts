import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Faults, noFaults } from "../../../src/base/faults.ts"
import { openTransactions } from "../../../src/workspace/transaction/transactions.ts"
import type { Random } from "../../soak/random.ts"
import { type ExactManifest, exactManifest, manifestDifferences, runInOverlay } from "./overlay-command.ts"
import { buildTree, closedModes, directoryModes, mutation } from "./random-tree.ts"

/** The death of the process: by an error that nothing catches, or by a signal in a process of its own. */
export type Death = "error" | "signal"

export interface KilledMerges {
  readonly violations: readonly string[]
  readonly kills: number
}

/** A workspace and a directory for layers, on one file system. */
export function layerWorkspace(): { readonly root: string; readonly directory: string } & Disposable {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "acode-layers-")))
  const root = join(scratch, "workspace")
  Bun.spawnSync(["mkdir", root])
  return {
    root,
    directory: join(scratch, "layers"),
    [Symbol.dispose]: () => {
      Bun.spawnSync(["chmod", "-R", "u+rwx", scratch])
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/**
 * Runs a random command in an overlay of a random tree, kills the merge after one of its changes of the file system
 * after the other, recovers, and does the same with the undo. The tree has to be exactly what the kernel showed in the
 * overlay, or exactly what it was before, and exactly that after the undo.
 */
export async function killedMerges(random: Random, death: Death, killsMax: number): Promise<KilledMerges> {
  using place = layerWorkspace()
  const modes = [...directoryModes, ...closedModes]
  buildTree(place.root, random, modes)
  const script = Array.from({ length: 1 + random.whole(8) }, () => mutation(random, modes)).join("\n")
  const rounds = new KillRounds(place, `${script}\nexit 0\n`, death)
  const stride = 1 + random.whole(3)
  let isMergeDone = false
  let isUndoDone = false
  for (let kill = 1; rounds.kills < killsMax && !(isMergeDone && isUndoDone); kill += stride) {
    const deaths = await rounds.round(isMergeDone ? null : kill, isUndoDone ? null : kill)
    isMergeDone ||= !deaths.inMerge
    isUndoDone ||= !deaths.inUndo
  }
  return rounds
}

class KillRounds implements KilledMerges {
  readonly violations: string[] = []
  kills = 0
  private readonly before: ExactManifest
  private serial = 0

  constructor(
    private readonly place: { readonly root: string; readonly directory: string },
    private readonly script: string,
    private readonly death: Death,
  ) {
    this.before = exactManifest(place.root)
  }

  /** Merges and undoes once, each killed at a point, and repeats what was killed. */
  async round(mergeKill: number | null, undoKill: number | null) {
    const id = `trn_${this.serial++}`
    const inMerge = await this.merge(id, mergeKill)
    const inUndo = await this.undo(id, undoKill)
    this.clear(id)
    return { inMerge, inUndo }
  }

  private async merge(id: string, kill: number | null): Promise<boolean> {
    const { view, isKilled, violations } = await this.work({ action: "merge", id, kill })
    this.violations.push(...violations)
    if (isKilled) await this.recover()
    const now = exactManifest(this.place.root)
    const isDropped = isKilled && manifestDifferences(this.before, now).length === 0
    // A process that died before the command had ended says nothing about it, and has merged nothing.
    const wrong = isDropped ? [] : manifestDifferences(view ?? this.before, now)
    this.violations.push(...wrong.map(line => `merge killed at ${kill}: ${line}`))
    return isKilled
  }

  private async undo(id: string, kill: number | null): Promise<boolean> {
    using transactions = openTransactions(this.place)
    if (!transactions.ids().includes(id)) return true
    const { isKilled, violations } = await this.work({ action: "undo", id, kill })
    this.violations.push(...violations)
    if (isKilled) await this.recover()
    // A kill before the first mark of the undo leaves it to be asked for again.
    await transactions.undo(id, work => work())
    const wrong = manifestDifferences(this.before, exactManifest(this.place.root))
    this.violations.push(...wrong.map(line => `undo killed at ${kill}: ${line}`))
    return isKilled
  }

  private async work(request: Pick<MergeWork, "action" | "id" | "kill">): Promise<WorkResult> {
    const work = { ...this.place, script: this.script, ...request }
    const result = this.death === "error" ? await dieByError(work) : await dieBySignal(work)
    if (result.isKilled) this.kills += 1
    return result
  }

  private async recover(): Promise<void> {
    using transactions = openTransactions(this.place)
    for (const { id, conflicts } of await transactions.recover(work => work()))
      for (const { path, why } of conflicts) this.violations.push(`${id} recovered with ${path} ${why}`)
  }

  private clear(id: string): void {
    using transactions = openTransactions(this.place)
    transactions.collect([id], 0)
    for (const left of transactions.ids()) this.violations.push(`${left} was left behind`)
  }
}

/** One merge or undo, in this process or in one of its own. */
export interface MergeWork {
  readonly root: string
  readonly directory: string
  readonly script: string
  readonly action: "merge" | "undo"
  readonly id: string
  /** The point after which nothing more happens; null to finish. */
  readonly kill: number | null
}

export interface WorkResult {
  readonly isKilled: boolean
  /** The merged view; null where the process died before the command had ended. */
  readonly view: ExactManifest | null
  readonly violations: readonly string[]
}

/** Merges or undoes, and calls `onView` as soon as the command has ended. */
export async function performWork(
  work: MergeWork,
  faults: Faults,
  onView: (view: ExactManifest) => void,
): Promise<readonly string[]> {
  const { root, directory, id } = work
  using transactions = openTransactions({ root, directory, faults })
  if (work.action === "undo") {
    const { foreign } = await transactions.undo(id, each => each())
    return foreign.map(path => `foreign without another program: ${path}`)
  }
  using transaction = transactions.begin(id)
  const run = await runInOverlay(transaction.layers, work.script)
  onView(run.view)
  const { conflicts } = await transaction.commit(
    () => "merge",
    each => each(),
  )
  return conflicts.map(({ path, why }) => `conflict without another program: ${path} ${why}`)
}

async function dieByError(work: MergeWork): Promise<WorkResult> {
  let view: ExactManifest | null = null
  const keep = (found: ExactManifest) => {
    view = found
  }
  try {
    const violations = await performWork(work, work.kill === null ? noFaults : stopAt(work.kill), keep)
    return { isKilled: false, view, violations }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    return { isKilled: true, view, violations: [] }
  }
}

/** Works in a process of its own that gets SIGKILL from itself, as `kill -9` at this point does. */
async function dieBySignal(work: MergeWork): Promise<WorkResult> {
  const program = join(import.meta.dir, "../../workspace/transaction/merge-and-die-program.ts")
  const run = Bun.spawn([process.execPath, program, JSON.stringify(work)], {
    stdout: "pipe",
    stderr: "inherit",
  })
  const lines = (await run.stdout.text()).split("\n").filter(line => line !== "")
  await run.exited
  const [view, violations] = lines.map(line => JSON.parse(line))
  const isKilled = run.signalCode === "SIGKILL"
  const failed = !isKilled && run.exitCode !== 0 ? [`${work.action} ended with ${run.exitCode}`] : []
  const found = work.action === "undo" ? view : violations
  return {
    isKilled,
    view: work.action === "undo" || view === undefined ? null : new Map(view),
    violations: [...failed, ...(found ?? [])],
  }
}

class Stopped extends Error {}

/** Returns faults after whose n-th point this process changes nothing any more. */
function stopAt(count: number): Faults {
  let reached = 0
  return {
    reach: () => {
      reached += 1
      if (reached >= count) throw new Stopped()
    },
  }
}
