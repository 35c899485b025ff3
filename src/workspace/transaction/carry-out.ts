import { errnoOf } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import type { Faults } from "../../base/faults.ts"
import type { WhileOwned } from "../checkpoint/contract.ts"
import { systemFailure } from "../failures.ts"
import { Pace } from "../pace.ts"
import { syncFileSystem } from "./attributes.ts"
import type { Conflict } from "./contract.ts"
import type { Area, LayerClock } from "./journal.ts"
import { Merging, type MoveResult } from "./merge.ts"
import type { Operation } from "./plan.ts"
import { type OpenDirectory, openPlace } from "./upper.ts"

/** The workspace and the directory of its layers. */
export interface TransactionContext {
  readonly root: OpenDirectory
  readonly directory: string
  /** True where the file system reports whether a file is open for writing. */
  readonly hasLeases: boolean
  readonly clock: Clock
  readonly layerClock: LayerClock
  readonly faults: Faults
}

export interface Merged {
  readonly conflicts: readonly Conflict[]
  /** The error of the file system that stopped the merge, or null. */
  readonly failure: unknown
}

/**
 * Performs the steps of a journal in order, each while no other process can take the workspace, and lets signals run in
 * between. Stops at the first conflict unless `rest` is set, and at an error of the file system. Makes the result
 * durable, but records nothing.
 */
export async function mergeForward(
  context: TransactionContext,
  area: Area,
  operations: readonly Operation[],
  owned: WhileOwned,
  rest: boolean,
): Promise<Merged> {
  const conflicts: Conflict[] = []
  let failure: unknown = null
  await inTurns(context, area, operations, owned, (merging, step) => {
    const result = attempt(() => merging.forward(step))
    if (typeof result !== "string") failure = systemFailure(result.error, step.path)
    else if (result !== "done") conflicts.push({ path: step.path, why: result })
    return failure === null && (rest || conflicts.length === 0)
  })
  return { conflicts, failure }
}

/** Takes the steps of a journal back, last first. Returns the paths that were left to other processes. */
export async function mergeBackward(
  context: TransactionContext,
  area: Area,
  operations: readonly Operation[],
  owned: WhileOwned,
): Promise<readonly string[]> {
  const foreign: string[] = []
  await inTurns(context, area, operations.toReversed(), owned, (merging, step) => {
    if (attempt(() => merging.backward(step)) !== "done") foreign.push(step.path)
    return true
  })
  return foreign.reverse()
}

type Attempt = MoveResult | { readonly error: unknown }

/** Returns an error of the file system as a value, for example that a path became the mount point of another disk. */
function attempt(step: () => MoveResult): Attempt {
  try {
    return step()
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return { error }
  }
}

async function inTurns(
  context: TransactionContext,
  area: Area,
  steps: readonly Operation[],
  owned: WhileOwned,
  perform: (merging: Merging, step: Operation) => boolean,
): Promise<void> {
  const { root: lower, faults, clock, hasLeases } = context
  const pace = new Pace(clock)
  const displaced = new Set(steps.flatMap(step => ("before" in step ? [step.before.ino] : [])))
  using upper = openPlace(area.at("upper"))
  using removed = openPlace(area.at("removed"))
  for (let next = 0; next < steps.length; ) {
    owned(() => {
      using merging = new Merging({
        upper,
        lower,
        removed,
        sinceNs: area.sinceNs,
        displaced,
        hasLeases,
        faults,
      })
      while (next < steps.length && !pace.isDue()) {
        const step = steps[next++]
        if (step !== undefined && !perform(merging, step)) next = steps.length
      }
    })
    await pace.rest()
  }
  syncFileSystem(lower.fd)
}
