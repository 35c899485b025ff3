import { startAcode } from "../support/acode.ts"
import {
  allPoints,
  approveForCrash,
  crashAt,
  crashPlanRun,
  crashPlanUndo,
  doubleCrashViolations,
  planFile,
  recoveryViolations,
  undoViolations,
} from "../support/crash/plan-crash.ts"
import { crashSplices } from "../support/crash/splice-crash.ts"
import { type SavedWorkspace, savedWorkspace } from "../support/workspace/saved-workspace.ts"
import { inParallel, type Programme } from "./programme.ts"
import type { Random } from "./random.ts"

/** Longer than a run takes on a busy machine: some of the kills come after its end. */
const momentMs = 1_200
/** The recovery has fewer points than this; a number above them means that it lives. */
const recoveryPoints = 30

/** Its count says nothing: it goes on until there is no further point. */
export const planPoints: Programme = {
  name: "plan-points",
  summary: "kill -9 at each point of plan run, and at each point of its undo",
  count: 1,
  run: async ({ sandboxes }) => {
    if (sandboxes.every(each => each === "none")) return []
    const run = await crashPlanRun(allPoints)
    const undo = await crashPlanUndo(allPoints)
    return [...run.found.map(lie => `run, ${lie}`), ...undo.found.map(lie => `undo, ${lie}`)]
  },
}

/** Its count says nothing either. */
export const splicePoints: Programme = {
  name: "splice-points",
  summary: "kill -9 at each point of a plan that replaces symbols and asks the code index",
  count: 1,
  run: async () => (await crashSplices(allPoints)).found,
}

export const planKills: Programme = {
  name: "plan-kills",
  summary: "kill -9 of plan run at random moments: the log says exactly what happened, and undo puts it back",
  count: 500,
  run: async ({ count, random, sandboxes, progress }) => {
    if (sandboxes.every(each => each === "none")) return []
    using pool = await approvedPool(2)
    let done = 0
    // Awaited here: a bare return would remove the workspaces before anything ran in them.
    return await inParallel(count, pool.size, async index => {
      const saved = pool.take()
      const found = await killed(saved, random)
      pool.give(saved)
      progress(++done)
      return found.map(problem => `#${index} ${problem}`)
    })
  },
}

/** Crashes the recovery too, at each of its points, for one point of the run after the other. */
export const planRecoveryKills: Programme = {
  name: "plan-recovery-kills",
  summary: "points of plan run, and every point of the recovery after each: it ends as one recovery would",
  count: 250,
  run: async ({ count, sandboxes, progress }) => {
    if (sandboxes.every(each => each === "none")) return []
    using pool = await approvedPool(2)
    let done = 0
    // Awaited here: a bare return would remove the workspaces before anything ran in them.
    return await inParallel(count, pool.size, async index => {
      const saved = pool.take()
      const hasCrashed = await crashAt(saved, index + 1)
      const { found } = hasCrashed ? await doubleCrashViolations(saved) : { found: [] }
      pool.give(saved)
      progress(++done)
      return found.map(problem => `point ${index + 1}: ${problem}`)
    })
  },
}

async function killed(saved: SavedWorkspace, random: Random): Promise<string[]> {
  const { workspace } = saved
  saved.restore("approved")
  const dueMs = random.whole(momentMs)
  const recoveryPoint = random.whole(recoveryPoints)
  const isUndone = random.whole(3) === 0
  await using running = startAcode(["plan", "run", planFile(workspace)], {
    cwd: workspace.root,
    env: workspace.environment,
  })
  await Promise.race([running.ended, Bun.sleep(dueMs)])
  running.kill("SIGKILL")
  await running.ended
  await saved.acode(["session", "list"], { ACODE_FAILPOINT: String(recoveryPoint + 1) })
  const found = await recoveryViolations(saved)
  if (isUndone) found.push(...(await undoViolations(saved)))
  return found.map(problem => `(${dueMs} ms, recovery point ${recoveryPoint + 1}): ${problem}`)
}

interface Pool extends Disposable {
  readonly size: number
  take(): SavedWorkspace
  give(saved: SavedWorkspace): void
}

/** Workspaces in which the plan is approved, each for one run at a time. */
async function approvedPool(size: number): Promise<Pool> {
  const all = Array.from({ length: size }, () => savedWorkspace())
  for (const saved of all) await approveForCrash(saved)
  const free = [...all]
  return {
    size,
    take: () => {
      const saved = free.pop()
      if (saved === undefined) throw new Error("more runs at the same time than workspaces")
      return saved
    },
    give: saved => void free.push(saved),
    [Symbol.dispose]: () => {
      for (const saved of all) saved[Symbol.dispose]()
    },
  }
}
