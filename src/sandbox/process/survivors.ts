import { reap } from "../../base/libc.ts"
import { ownChildren } from "../../base/spawn.ts"
import { allPids, childrenOf, descendantsOf, hasVariable } from "./proc-tree.ts"
import { startTimeOf, trySignal } from "./process-handle.ts"

/** The variable by which what a command started is found again, whatever it did to its parents and its session. */
export const executionTag = "ACODE_EXECUTION_ID"

/**
 * Stops everything that `find` names before it kills any of it: what is stopped cannot start another one while its
 * neighbours are being killed. Repeats until nothing is found, because a process may be born between two looks.
 */
export async function endAll(find: () => readonly number[]): Promise<number> {
  const ended = new Set<number>()
  for (let round = 0; round < roundsMax; round++) {
    const found = find()
    if (found.length === 0) return ended.size
    for (const pid of found) trySignal(pid, sigstop)
    const all = new Set([...found, ...find()])
    for (const pid of all) {
      trySignal(pid, sigkill)
      ended.add(pid)
    }
    reapAdopted(all)
    if (round >= eagerRounds) await Bun.sleep(1)
  }
  throw new Error(`${find().length} processes do not end although they were killed`)
}

/**
 * Ends what an execution of an acode that is gone left behind, by its tag. A process that changed its own environment
 * before it started others is not found: only the acode that was its parent could.
 */
export async function endTagged(executionId: string): Promise<number> {
  return await endAll(() =>
    allPids().filter(
      pid => pid !== process.pid && hasVariable(pid, executionTag, executionId) && isAlive(pid),
    ),
  )
}

/** Returns the live processes below these, they themselves included. */
export function aliveFrom(pids: readonly number[]): readonly number[] {
  const found = new Set(pids)
  for (const pid of pids) for (const below of descendantsOf(pid, descendantsMax)) found.add(below)
  return [...found].filter(isAlive)
}

/** Orphans that became our children because we are their subreaper: everything we did not start ourselves. */
export function adoptedChildren(): readonly number[] {
  return childrenOf(process.pid).filter(pid => !ownChildren.has(pid))
}

/** Reaps dead orphans. Never our own children: the runtime waits for those itself. */
export function reapAdopted(pids: Iterable<number>): void {
  for (const pid of pids) if (!ownChildren.has(pid)) reap(pid)
}

function isAlive(pid: number): boolean {
  return startTimeOf(pid) !== null
}

const sigkill = 9
const sigstop = 19
const eagerRounds = 3
const roundsMax = 5_000
const descendantsMax = 100_000
