import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { DiffStat } from "../../src/engine/diffstat.ts"
import type { Random } from "../soak/random.ts"
import { check } from "../support/checker/checker.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"
import { difference, OracleDirectory, OracleRepository } from "./oracle.ts"
import { copyRealFiles, manifestOf, RealTree } from "./real-tree.ts"

export interface RealTreeRun {
  readonly files: number
  readonly steps: number
  /** Steps of one plan. */
  readonly batch: number
}

/** Random changes of real sources by `plan run`, then everything undone; gives a line for each thing that is wrong. */
export async function realTreeViolations(run: RealTreeRun, random: Random): Promise<string[]> {
  using room = planWorkspace()
  using oracle = new OracleDirectory()
  const { root } = room.workspace
  const paths = copyRealFiles(root, run.files, random)
  const first = manifestOf(root)
  const repository = new OracleRepository(oracle, root)
  const tree = new RealTree(root, paths, oracle, random)
  const found: string[] = []
  const sessions: string[] = []
  for (let done = 0; done < run.steps; done += run.batch) {
    const steps = Array.from({ length: Math.min(run.batch, run.steps - done) }, () => tree.next())
    room.plan(
      steps.map(({ step }) => step),
      `plan-${done}`,
    )
    const { run: ended, result } = await room.approveAndRun()
    sessions.push(result.session_id)
    if (ended.exitCode !== 0) {
      const made = JSON.stringify(steps[result.step_results.length - 1]?.step).slice(0, 2_000)
      const why = result.step_results.at(-1)?.error_message
      return [...found, `plan ${done}: exit ${ended.exitCode}: ${why} ${made}`]
    }
    for (const [index, { check: wrong }] of steps.entries()) {
      const value = result.step_results[index]?.result
      const problem = wrong(typeof value === "object" && value !== null ? { ...value } : {})
      if (problem !== null) found.push(`plan ${done}, step ${index + 1}: ${problem}`)
    }
    found.push(...contentViolations(root, tree, `plan ${done}`))
    found.push(...statViolations(result.changes, repository).map(problem => `plan ${done}: ${problem}`))
    repository.commit()
  }
  for (const session of sessions.reverse()) {
    const { exitCode, stderr } = await room.acode("session", "undo", session, "--yes")
    if (exitCode !== 0) found.push(`undo of ${session} exits ${exitCode}: ${stderr}`)
  }
  found.push(...manifestViolations(first, manifestOf(root)), ...(await check(room.workspace)))
  return found
}

/** What the run says that it changed, and what git says. */
export function statViolations({ files, total }: DiffStat, repository: OracleRepository): string[] {
  const expected = repository.changes()
  const told = new Map(files.map(({ path, added, removed }) => [path, [added, removed]]))
  const wrong = [...new Set([...expected.keys(), ...told.keys()])].filter(
    path => String(expected.get(path)) !== String(told.get(path)),
  )
  const sum = [...expected.values()].reduce((lines, [added]) => lines + (added ?? 0), 0)
  return [
    ...wrong.map(path => `${path}: +- ${String(told.get(path))}, and git says ${String(expected.get(path))}`),
    ...(sum === total.added && total.files === expected.size
      ? []
      : [`the total is ${JSON.stringify(total)}`]),
  ]
}

function contentViolations(root: string, tree: RealTree, name: string): string[] {
  return [...tree.contents()].flatMap(([path, text]) => {
    const wrong = difference(Buffer.from(text), readFileSync(join(root, path)))
    return wrong === null ? [] : [`${name}: ${path} ${wrong}`]
  })
}

function manifestViolations(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(path => before.get(path) !== after.get(path))
    .map(path => `undone: ${path} is ${after.get(path) ?? "gone"} and was ${before.get(path) ?? "not there"}`)
}
