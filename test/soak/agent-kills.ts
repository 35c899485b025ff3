import { startAcode } from "../support/acode.ts"
import {
  type CrashPoint,
  crashAgain,
  crashGolden,
  type GoldenRoom,
  goldenRoom,
  goldenViolations,
  legs,
  nextCommand,
} from "../support/crash/golden-crash.ts"
import { goldenPoints } from "../support/crash/golden-points.ts"
import { inParallel, type Programme } from "./programme.ts"
import type { Random } from "./random.ts"

/** Longer than a leg takes on a busy machine: some of the kills come after its end. */
const momentMs = 3_000
/** Most of what a resume does after a crash is done within so many points; above them it goes on as usual. */
const recoveryPoints = 40

/** Every point once by itself, and once more with a second kill of the resume. */
export const agentPoints: Programme = {
  name: "agent-points",
  summary: "points of a whole session, each once and once with a second kill of the resume: the same files",
  // More than there are: all of them.
  count: 5_000,
  run: async ({ count, random, sandboxes, progress }) => {
    if (sandboxes.every(each => each === "none")) return []
    using pool = await roomPool(2)
    const points = await pool.using(goldenPoints)
    process.stdout.write(`  ${points.length} points\n`)
    let done = 0
    // Awaited here: a bare return would remove the workspaces before anything ran in them.
    return await inParallel(Math.min(count, points.length * 2), pool.size, index => {
      const point = points[index % points.length]
      const second = index < points.length ? null : 1 + random.whole(recoveryPoints)
      progress(++done)
      return point === undefined ? Promise.resolve([]) : pool.using(room => crashed(room, point, second))
    })
  },
}

/** At moments nobody has numbered, also those in which a sandbox starts or ends. */
export const agentKills: Programme = {
  name: "agent-kills",
  summary: "kill -9 of run and resume at random moments: resumed to the same files, nothing done twice",
  count: 5_000,
  run: async ({ count, random, sandboxes, progress }) => {
    if (sandboxes.every(each => each === "none")) return []
    using pool = await roomPool(2)
    let done = 0
    // Awaited here: a bare return would remove the workspaces before anything ran in them.
    return await inParallel(count, pool.size, async index => {
      const found = await pool.using(room => killed(room, random))
      progress(++done)
      return found.map(problem => `#${index} ${problem}`)
    })
  },
}

async function crashed(
  room: GoldenRoom,
  point: CrashPoint & { readonly name: string },
  second: number | null,
): Promise<string[]> {
  const hasCrashed = await crashGolden(room, point)
  if (second !== null) await crashAgain(room.saved, second)
  const found = await goldenViolations(room)
  // Reads that run side by side do not always reach their points in the same order, but they reach as many.
  if (!hasCrashed) found.push("there is no such point")
  const name = `${point.leg} ${point.point} ${point.name}${second === null ? "" : `, then ${second}`}`
  return found.map(problem => `${name}: ${problem}`)
}

async function killed(room: GoldenRoom, random: Random): Promise<string[]> {
  const leg = random.oneOf(legs)
  await room.restore(leg)
  const moments = Array.from({ length: 1 + random.whole(3) }, () => random.whole(momentMs))
  const { workspace } = room.saved
  for (const dueMs of moments) {
    await using running = startAcode(nextCommand(workspace), {
      cwd: workspace.root,
      env: workspace.environment,
    })
    await Promise.race([running.ended, Bun.sleep(dueMs)])
    running.kill("SIGKILL")
    await running.ended
  }
  return (await goldenViolations(room)).map(problem => `(${leg}, ${moments.join(" ms, ")} ms): ${problem}`)
}

interface RoomPool extends Disposable {
  readonly size: number
  /** Lends a room for one run at a time. */
  using<Result>(work: (room: GoldenRoom) => Promise<Result>): Promise<Result>
}

async function roomPool(size: number): Promise<RoomPool> {
  const all = new DisposableStack()
  const free: GoldenRoom[] = []
  for (let count = 0; count < size; count++) free.push(all.use(await goldenRoom()))
  return {
    size,
    using: async work => {
      const room = free.pop()
      if (room === undefined) throw new Error("more runs at the same time than rooms")
      try {
        return await work(room)
      } finally {
        free.push(room)
      }
    },
    [Symbol.dispose]: () => all.dispose(),
  }
}
