import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Clock, systemClock } from "../../base/clock.ts"
import { type Faults, noFaults } from "../../base/faults.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import type { WhileOwned } from "../checkpoint/contract.ts"
import { systemFailure } from "../failures.ts"
import { keepWritersOut, moveToFreeName } from "../files/rename.ts"
import { Pace } from "../pace.ts"
import { syncFileSystem } from "./attributes.ts"
import { mergeBackward, mergeForward, type TransactionContext } from "./carry-out.ts"
import type {
  ChangeSet,
  CommitOptions,
  CommitResult,
  Conflict,
  Decide,
  LayerDirectories,
  Transaction,
  Transactions,
} from "./contract.ts"
import { Area, areaIds, type LayerClock, systemLayerClock } from "./journal.ts"
import { type MergePlan, type Operation, planOf } from "./plan.ts"
import { collectAreas, recoverAreas, undoArea } from "./recover.ts"
import {
  clearMarks,
  entryStamp,
  type OpenDirectory,
  openBelow,
  openPlace,
  paced,
  statAt,
  surveyOf,
} from "./upper.ts"

export interface TransactionDeps {
  /** The real path of the workspace. */
  readonly root: string
  /** The directory for layers, on the mount of the workspace. */
  readonly directory: string
  readonly clock?: Clock
  readonly layerClock?: LayerClock
  readonly faults?: Faults
}

/** Opens the transactions of a workspace. */
export function openTransactions(deps: TransactionDeps): Transactions & Disposable {
  mkdirSync(deps.directory, { recursive: true, mode: 0o700 })
  const context: TransactionContext = {
    root: openPlace(deps.root),
    directory: deps.directory,
    hasLeases: offersLeases(deps.directory),
    clock: deps.clock ?? systemClock,
    layerClock: deps.layerClock ?? systemLayerClock,
    faults: deps.faults ?? noFaults,
  }
  return {
    begin: id => {
      const { directory, root, layerClock, faults } = context
      return new LayeredTransaction(context, deps.root, Area.create(directory, id, root, layerClock, faults))
    },
    recover: owned => recoverAreas(context, owned),
    undo: (id, owned) => undoArea(context, id, owned),
    ids: () => areaIds(context.directory),
    collect: (candidates, bytesMax) => collectAreas(context, candidates, bytesMax),
    [Symbol.dispose]: () => context.root[Symbol.dispose](),
  }
}

function offersLeases(directory: string): boolean {
  const path = join(directory, "probe")
  writeFileSync(path, "", { mode: 0o600 })
  const fd = openSync(path, "r")
  try {
    return keepWritersOut(fd)
  } finally {
    closeSync(fd)
  }
}

class LayeredTransaction implements Transaction {
  readonly id: string
  readonly layers: LayerDirectories

  constructor(
    private readonly context: TransactionContext,
    rootPath: string,
    private readonly area: Area,
  ) {
    this.id = area.id
    this.layers = { lower: rootPath, upper: area.at("upper"), work: area.at("work") }
  }

  async changes(): Promise<ChangeSet> {
    const { changes, conflicts } = await this.plan(() => "merge")
    return { changes, conflicts }
  }

  async commit(
    decide: Decide,
    owned: WhileOwned,
    { rest = false }: CommitOptions = {},
  ): Promise<CommitResult> {
    const { area, context } = this
    const plan = await this.plan(decide)
    const { refused, asked, conflicts } = plan
    if (conflicts.length > 0 && !rest) return this.hold(plan, conflicts)
    const operations = await this.prepare(plan)
    if (operations.length === 0) {
      area.mark(conflicts.length + refused.length + asked.length === 0 ? "settled" : "held", { conflicts })
      return { merged: [], conflicts, refused, asked }
    }
    area.writeJournal(operations)
    const merged = await mergeForward(context, area, operations, owned, rest)
    if (merged.failure !== null || (merged.conflicts.length > 0 && !rest)) {
      area.mark("back", {})
      await mergeBackward(context, area, operations, owned)
      area.mark("undone", { conflicts: merged.conflicts })
      if (merged.failure !== null) throw merged.failure
      return { merged: [], conflicts: merged.conflicts, refused, asked }
    }
    const all = [...conflicts, ...merged.conflicts]
    area.mark("settled", { conflicts: all })
    const left = new Set(merged.conflicts.map(({ path }) => path))
    return { merged: plan.changes.filter(({ path }) => !left.has(path)), conflicts: all, refused, asked }
  }

  discard(): void {
    this.area.remove()
    this[Symbol.dispose]()
  }

  [Symbol.dispose](): void {
    this.area[Symbol.dispose]()
  }

  private hold({ refused, asked }: MergePlan, conflicts: readonly Conflict[]): CommitResult {
    this.area.mark("held", { conflicts })
    return { merged: [], conflicts, refused, asked }
  }

  private async plan(decide: Decide): Promise<MergePlan> {
    const { area, context } = this
    const { root: lower, clock, layerClock } = context
    if (!area.isAbove(lower)) throw new Error("the layers belong to another workspace")
    using upper = openPlace(area.at("upper"))
    const steps = planOf({ upper, lower, sinceNs: area.sinceNs, decide })
    const plan = await this.onLayer(() => paced(steps, new Pace(clock)))
    if (!area.hasClockMoved(layerClock)) return plan
    const moved = plan.changes.map(({ path }) => ({ path, why: "clockMoved" as const }))
    return { ...plan, operations: [], changes: [], conflicts: [...plan.conflicts, ...moved] }
  }

  /**
   * Makes the layer fit to be merged: takes out what is held back, removes the overlay's marks, and writes everything
   * to the disk. A crash here leaves a layer that is dropped.
   */
  private async prepare({ operations, heldBack, closed }: MergePlan): Promise<readonly Operation[]> {
    if (operations.length === 0) return []
    const { area, context } = this
    using upper = openPlace(area.at("upper"))
    using aside = openPlace(area.at("heldBack"))
    const pace = new Pace(context.clock)
    return await this.onLayer(async () => {
      for (const path of closed) {
        using directory = openBelow(upper, path)
        if (directory !== null) chmodSync(directory.at, 0o700)
      }
      heldBack.forEach((path, index) => {
        using parent = openBelow(upper, parentOf(path))
        if (parent === null) throw new Error("the layer has lost a directory")
        moveToFreeName({ directory: parent, name: nameOf(path) }, { directory: aside, name: String(index) })
        context.faults.reach("transaction.held-back")
      })
      const prepared: Operation[] = []
      for (const operation of operations) {
        if (operation.kind === "create" || operation.kind === "replace") {
          using parent = openBelow(upper, parentOf(operation.path))
          if (parent === null) throw new Error("the layer has lost a directory")
          await paced(clearMarks(parent, nameOf(operation.path)), pace)
          const isSmaller = heldBack.some(path => path.startsWith(`${operation.path}/`))
          const after = isSmaller ? await stampAgain(parent, operation.path, pace) : operation.after
          prepared.push({ ...operation, after })
        } else prepared.push(operation)
      }
      context.faults.reach("transaction.prepared")
      syncFileSystem(upper.fd)
      return prepared
    })
  }

  /** Names the transaction in errors of the file system: the paths in its layer are acode's own. */
  private async onLayer<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw systemFailure(error, this.id)
    }
  }
}

async function stampAgain(parent: OpenDirectory, path: string, pace: Pace) {
  const stat = statAt(parent, nameOf(path))
  const inside = await paced(surveyOf(parent, nameOf(path), path, undefined, "opened"), pace)
  if (stat === null || inside === null) throw new Error("the layer has lost a directory")
  return entryStamp(stat, inside.digest)
}
