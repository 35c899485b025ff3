import { describe, expect, test } from "bun:test"
import { check } from "../support/checker/checker.ts"
import { approveForCrash, crashAt, doubleCrashViolations } from "../support/crash/plan-crash.ts"
import { reportViolations } from "../support/plan/plan-report.ts"
import { missingSandbox } from "../support/requirement.ts"
import { type FileTree, readFileTree } from "../support/workspace/file-tree.ts"
import { type SavedWorkspace, savedWorkspace } from "../support/workspace/saved-workspace.ts"

/** One crash of each kind: what it leaves, and a point a little before it. */
const everyLeaving: readonly {
  readonly what: string
  readonly from: number
  readonly isLeft: (tree: FileTree) => boolean
}[] = [
  { what: "nothing open", from: 20, isLeft: tree => !tree.has("made/deep/new.txt") },
  { what: "a temporary file", from: 44, isLeft: tree => [...tree.keys()].some(isTemporary) },
  { what: "half a patch", from: 103, isLeft: tree => isPatched(tree, "a") && !isPatched(tree, "b") },
  { what: "half a command", from: 171, isLeft: tree => tree.has("out/link") && !tree.has("late.txt") },
]
const leavings = everyLeaving.filter(({ what }) => missingSandbox === null || what !== "half a command")

function isTemporary(path: string): boolean {
  return path.endsWith(".tmp~")
}

function isPatched(tree: FileTree, name: string): boolean {
  return tree.get(`src/${name}.ts`)?.content.includes("2") ?? false
}

/** A part of the points; `npm run soak -- --only plan-recovery-kills` dies at each of them. */
describe("kill -9 of the start that recovers", () => {
  test("ends where one recovery would have ended", async () => {
    const halves = [leavings.slice(0, 2), leavings.slice(2)]
    const results = (await Promise.all(halves.map(crashedTwice))).flat()
    const runs = results.reduce((sum, result) => sum + result.runs, 0)
    process.stdout.write(`  ${runs} crashes of a recovery\n`)
    expect(results.flatMap(({ found }) => found)).toEqual([])
    expect(runs).toBeGreaterThan(20)
  }, 600_000)
})

async function crashedTwice(kinds: typeof leavings) {
  using saved = savedWorkspace()
  await approveForCrash(saved)
  const results: { readonly runs: number; readonly found: readonly string[] }[] = []
  for (const kind of kinds) {
    await crashLeaving(saved, kind)
    // By turns the odd and the even points.
    const first = 1 + (leavings.indexOf(kind) % 2)
    const { runs, found } = await doubleCrashViolations(saved, { first, every: 2 })
    results.push({ runs, found: found.map(problem => `${kind.what}: ${problem}`) })
  }
  return results
}

/** The numbers move when the product changes, so the point is looked for. */
async function crashLeaving(saved: SavedWorkspace, { what, from, isLeft }: (typeof leavings)[number]) {
  for (let point = from; point < from + 60; point++)
    if ((await crashAt(saved, point)) && isLeft(readFileTree(saved.workspace.root))) return
  throw new Error(`no crash at 60 points from ${from} on leaves ${what}`)
}

describe("several starts at the same moment after a crash", () => {
  test("close the session once", async () => {
    using saved = savedWorkspace()
    await approveForCrash(saved)
    await crashAt(saved, 85)
    saved.save("crashed")
    for (let round = 0; round < 8; round++) {
      saved.restore("crashed")
      const starts = await Promise.all([1, 2, 3, 4].map(() => saved.acode(["session", "list"])))
      expect(starts.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(starts.map(() => [0, ""]))
      expect(await check(saved.workspace)).toEqual([])
      expect(reportViolations(saved.workspace)).toEqual([])
    }
  }, 120_000)
})
