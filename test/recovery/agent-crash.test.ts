import { describe, expect } from "bun:test"
import {
  type CrashPoint,
  crashAgain,
  crashGolden,
  type GoldenRoom,
  goldenRoom,
  goldenViolations,
} from "../support/crash/golden-crash.ts"
import { goldenPoints, spread } from "../support/crash/golden-points.ts"
import { everyTool } from "../support/crash/golden-session.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"

const confinedTest = testWhere(missingSandbox)

/** How many sessions are crashed at the same time. */
const width = 2

/** Every second kind, for the time it takes. */
function isOfSlice(_: unknown, index: number): boolean {
  return index % 2 === 0
}

/** `npm run soak -- --only agent-points` dies at each point of all kinds, and twice. */
describe("kill -9 at points of many kinds of a session with everything in it", () => {
  confinedTest(
    "leaves a session that is resumed to the very same files, with nothing done twice",
    async () => {
      using rooms = new DisposableStack()
      const lanes = (await Promise.all(Array.from({ length: width }, goldenRoom))).map(room =>
        rooms.use(room),
      )
      const [first] = lanes
      if (first === undefined) throw new Error("there is a room")
      expectGolden(first)
      const points = await goldenPoints(first)
      const crashes = [...spread(points).filter(isOfSlice).map(single), ...twice(points)]
      const found: string[] = []
      const began = performance.now()
      await Promise.all(lanes.map(room => crashInTurn(room, crashes, found)))
      const seconds = ((performance.now() - began) / 1_000).toFixed(0)
      const names = new Set(points.map(({ name }) => name)).size
      process.stdout.write(
        `  ${points.length} points of ${names} kinds, ${found.length} violations, ${seconds} s\n`,
      )
      expect(found).toEqual([])
      expect(points.length).toBeGreaterThan(1_000)
    },
    600_000,
  )
})

interface Crash {
  readonly what: string
  readonly first: CrashPoint
  /** The point of the resume at which it dies again; null when it lives. */
  readonly second: number | null
}

/** Takes one after the other until none is left. */
async function crashInTurn(room: GoldenRoom, crashes: Crash[], found: string[]): Promise<void> {
  for (let next = crashes.pop(); next !== undefined; next = crashes.pop()) {
    const { what, first, second } = next
    const name = `${what} (${first.leg} ${first.point}${second === null ? "" : `, then ${second}`})`
    if (!(await crashGolden(room, first))) found.push(`${name}: there is no such point`)
    if (second !== null) await crashAgain(room.saved, second)
    found.push(...(await goldenViolations(room)).map(problem => `${name}: ${problem}`))
  }
}

function single({ name, leg, point }: CrashPoint & { readonly name: string }): Crash {
  return { what: name, first: { leg, point }, second: null }
}

/** In the middle of a command, of a file and of a check: what is put back, and what is only written down. */
function twice(points: readonly (CrashPoint & { readonly name: string })[]): readonly Crash[] {
  const wanted: readonly (readonly [string, readonly number[]])[] = [
    ["command.output", [8, 20]],
    ["file.renamed", [9]],
    ["command.exited", [12]],
  ]
  return wanted.flatMap(([name, seconds]) => {
    const point = points.findLast(each => each.name === name)
    return point === undefined ? [] : seconds.map(second => ({ what: name, first: point, second }))
  })
}

/** The session is what it is said to be; otherwise the crashes would prove less than they seem to. */
function expectGolden({ rows }: GoldenRoom): void {
  const types = (type: string) => rows.filter(row => row.type === type)
  expect(types("tool_call.settled").length).toBeGreaterThanOrEqual(40)
  expect(everyTool.filter(tool => !rows.some(({ parsed }) => parsed["canonicalTool"] === tool))).toEqual([])
  expect(types("cycle.started").map(({ parsed }) => `${parsed["from"]} ${parsed["to"]}`)).toEqual([
    "verifier executor",
    "reviewer planner",
  ])
  expect(types("approval.requested").map(({ parsed }) => parsed["kind"])).toEqual(["plan", "action"])
  expect(types("session.finished").map(({ parsed }) => parsed["exitCode"])).toEqual([0])
}
