import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../checker/checker.ts"
import { eventually } from "../eventually.ts"
import { everyToolPlan, type PlanWithTrees, writeFirstTree } from "../plan/every-tool-plan.ts"
import { differences, reportViolations, sessionRows } from "../plan/plan-report.ts"
import { taggedProcesses } from "../processes.ts"
import { emptyDirectories, type FileTree, readFileTree, treeChanges } from "../workspace/file-tree.ts"
import { type SavedWorkspace, savedWorkspace } from "../workspace/saved-workspace.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"

/** Returns the path of the plan, beside the workspace, so that the tree does not contain it. */
export function planFile(workspace: TempWorkspace): string {
  return join(workspace.outside, "plan.json")
}

/** A workspace in which a plan is approved and has not run; saved as `approved`. */
export async function approveForCrash(
  saved: SavedWorkspace,
  plan: PlanWithTrees = everyToolPlan,
): Promise<void> {
  writeFirstTree(saved.workspace, plan)
  writeFileSync(planFile(saved.workspace), JSON.stringify(plan.plan))
  const { exitCode, stderr } = await saved.acode(["plan", "approve", planFile(saved.workspace)])
  if (exitCode !== 0) throw new Error(`plan approve: ${stderr}`)
  saved.save("approved")
}

/** Crashes in a workspace with an approved plan. Returns whether the crash took place, and the violations after it. */
type CrashAt = (
  saved: SavedWorkspace,
  point: number,
) => Promise<{ readonly isCrashed: boolean; readonly problems: readonly string[] }>

/** The numbered points to crash at: the first one, and then one at each interval. */
export interface Points {
  readonly first: number
  readonly every: number
}

export const allPoints: Points = { first: 1, every: 1 }

/** Crashes at the points until there is none left, in several workspaces side by side. */
async function crashAtPoints(
  { first, every }: Points,
  width: number,
  crash: CrashAt,
  plan: PlanWithTrees = everyToolPlan,
) {
  const found: string[] = []
  let next = first
  const taken = () => {
    const point = next
    next += every
    return point
  }
  let last = Number.POSITIVE_INFINITY
  const lane = async () => {
    using saved = savedWorkspace()
    await approveForCrash(saved, plan)
    for (let point = taken(); point < last; point = taken()) {
      saved.restore("approved")
      const { isCrashed, problems } = await crash(saved, point)
      if (!isCrashed) last = Math.min(last, point)
      found.push(...problems.map(problem => `point ${point}: ${problem}`))
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: width }, lane))
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  const which = every === 1 ? "" : `, from ${first} on every ${every}th crashed at`
  process.stdout.write(`  ${last - 1} points${which}, ${found.length} violations, ${seconds} s\n`)
  return { found, last }
}

/** Undoing takes as long as all the rest, so only what crashed at every so manieth point is undone. */
const undoneEvery = 5

/**
 * Dies in `plan run`: the session says exactly what happened, the tree is exactly that, and so is what `inspect` looks
 * at.
 */
export function crashPlanRun(
  points: Points,
  plan: PlanWithTrees = everyToolPlan,
  inspect: (saved: SavedWorkspace) => Promise<readonly string[]> = () => Promise.resolve([]),
) {
  let crashes = 0
  const crash: CrashAt = async (saved, point) => {
    const env = { ACODE_FAILPOINT: String(point) }
    const { signal } = await saved.acode(["plan", "run", planFile(saved.workspace)], env)
    const problems = [...(await recoveryViolations(saved, plan)), ...(await inspect(saved))]
    if (++crashes % undoneEvery === 0) problems.push(...(await undoViolations(saved, plan)))
    return { isCrashed: signal === "SIGKILL", problems }
  }
  return crashAtPoints(points, 3, crash, plan)
}

/** Dies in `session undo` of a whole run: a second undo puts everything back. */
export function crashPlanUndo(points: Points) {
  return crashAtPoints(points, 2, async (saved, point) => {
    // Not saved after this: a copy of a finished run would have other inodes, which undo does not know.
    await saved.acode(["plan", "run", planFile(saved.workspace)])
    const { signal } = await saved.acode(["session", "undo", "--commands"], {
      ACODE_FAILPOINT: String(point),
    })
    return { isCrashed: signal === "SIGKILL", problems: await undoneAgain(saved) }
  })
}

/** Runs a second undo, which completes the first one and is recorded once. */
async function undoneAgain(saved: SavedWorkspace): Promise<readonly string[]> {
  const { exitCode, stderr } = await saved.acode(["session", "undo", "--commands"])
  const isSaidTwice = exitCode === 1 && stderr.includes("ACODE-UNDO-002")
  const records = sessionRows(saved.workspace).filter(row => row.type === "session.undone").length
  return [
    ...(exitCode === 0 || isSaidTwice ? [] : [`session undo exits ${exitCode}: ${stderr}`]),
    ...differences("all is restored", firstTree(), readFileTree(saved.workspace.root)),
    ...(records === 1 ? [] : [`it was recorded ${records} times`]),
    ...(await check(saved.workspace)),
  ]
}

/** Confined commands die with acode, but not in the same instant. */
async function untilCommandsAreGone(workspace: TempWorkspace): Promise<void> {
  const ids = sessionRows(workspace)
    .filter(row => row.type === "command.started")
    .map(row => String(row.parsed["executionId"]))
  const isGone = () => ids.every(id => taggedProcesses(id).length === 0)
  await eventually("the commands are gone", isGone)
}

/** Starts acode once and checks everything; a second start changes nothing. */
export async function recoveryViolations(
  saved: SavedWorkspace,
  { trees }: PlanWithTrees = everyToolPlan,
): Promise<string[]> {
  const { workspace } = saved
  const listing = await saved.acode(["session", "list", "--json"])
  const rows = eventsText(workspace)
  const tree = readFileTree(workspace.root)
  const found = [
    ...(listing.exitCode === 0 ? [] : [`session list exits ${listing.exitCode}: ${listing.stderr}`]),
    ...(await check(workspace)),
    ...reportViolations(workspace, trees),
  ]
  const audit = await saved.acode(["audit", "verify"])
  if (audit.exitCode !== 0) found.push(`audit verify exits ${audit.exitCode}: ${audit.stderr}`)
  if (eventsText(workspace) !== rows) found.push("a second start adds to the session")
  return [...found, ...differences("a second start is to change nothing", tree, readFileTree(workspace.root))]
}

/** Checks after a recovery that undo restores everything, byte for byte and with its modes. */
export async function undoViolations(
  saved: SavedWorkspace,
  plan: PlanWithTrees = everyToolPlan,
): Promise<string[]> {
  const first = firstTree(plan)
  if (sessionRows(saved.workspace).length === 0) return []
  const { root } = saved.workspace
  const hasChanged = treeChanges(first, readFileTree(root)).length > 0 || emptyDirectories(root).length > 0
  const { exitCode, stdout, stderr } = await saved.acode(["session", "undo", "--commands"])
  return [
    ...(exitCode === (hasChanged ? 0 : 1) ? [] : [`session undo exits ${exitCode}: ${stdout}${stderr}`]),
    ...differences("all is restored", first, readFileTree(root)),
    ...emptyDirectories(root).map(directory => `${directory} is left, with nothing in it`),
    ...(await check(saved.workspace)),
  ]
}

function firstTree({ trees }: PlanWithTrees = everyToolPlan): FileTree {
  const [first] = trees
  if (first === undefined) throw new Error("the plan has a tree before its first step")
  return first
}

/** Runs the approved plan and dies at a point; false when there is no such point. */
export async function crashAt(saved: SavedWorkspace, point: number): Promise<boolean> {
  saved.restore("approved")
  const { signal } = await saved.acode(["plan", "run", planFile(saved.workspace)], {
    ACODE_FAILPOINT: String(point),
  })
  await untilCommandsAreGone(saved.workspace)
  return signal === "SIGKILL"
}

const recoveryPointsMax = 100

/** Dies at points of the recovery of what is there; a further start has to end as if the first had lived. */
export async function doubleCrashViolations(
  saved: SavedWorkspace,
  { first, every }: Points = allPoints,
): Promise<{ readonly runs: number; readonly found: readonly string[] }> {
  const { workspace } = saved
  saved.save("crashed")
  await saved.acode(["session", "list"])
  const expected = { rows: eventsText(workspace), tree: readFileTree(workspace.root) }
  const found: string[] = []
  for (let point = first, runs = 0; point < recoveryPointsMax; point += every, runs++) {
    saved.restore("crashed")
    const again = await saved.acode(["session", "list"], { ACODE_FAILPOINT: String(point) })
    if (again.signal !== "SIGKILL") return { runs, found }
    await saved.acode(["session", "list"])
    const problems = [
      ...(eventsText(workspace) === expected.rows
        ? []
        : [`the log says otherwise: ${eventsText(workspace)}`]),
      ...differences("files differ", expected.tree, readFileTree(workspace.root)),
      ...(await check(workspace)),
      ...reportViolations(workspace),
    ]
    found.push(...problems.map(problem => `recovery point ${point}: ${problem}`))
  }
  throw new Error(`the recovery still crashes at point ${recoveryPointsMax}`)
}

/** Returns the events of all sessions without times and inodes, which differ in each copy of a workspace. */
function eventsText(workspace: TempWorkspace): string {
  const isOfCopy = (key: string) => key === "left" || key === "identity"
  const lasting = (data: string) =>
    JSON.parse(data, (key, value) => (isOfCopy(key) ? undefined : value)) as unknown
  return JSON.stringify(sessionRows(workspace).map(({ seq, type, data }) => [seq, type, lasting(data)]))
}
