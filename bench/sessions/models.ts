import { join } from "node:path"
import type { Protocol } from "../../src/domain/model-choice.ts"
import { repositoryRoot } from "../../test/support/acode.ts"
import { open, reply } from "../../test/support/script-replies.ts"
import { type TempWorkspace, tempWorkspace } from "../../test/support/workspace/temp-workspace.ts"
import { compiledHello } from "../floors.ts"
import { timingOf } from "../measure.ts"
import { peakMb } from "../peak-memory.ts"
import { openProduct } from "../product.ts"
import { atMost, type Figure, timesFloor } from "../report.ts"
import { driven, spans } from "./driven-session.ts"
import type { TurnOverHttp } from "./http-turn-program.ts"
import { benchServer } from "./model-server.ts"

/** Measures a session over real HTTP without the model: until the first request, for each turn, and when it is long. */
export async function modelFigures(): Promise<Figure[]> {
  return [
    ...(await coldStart("ollama")),
    ...(await coldStart("openai")),
    ...(await turns("openai")),
    ...(await long("openai")),
  ]
}

const acode = join(repositoryRoot, "dist", "acode")
const plan = reply.plan({ write: ["made.txt"] })

/** Measures the time from the start of the compiled program until the server has its first request to the model. */
async function coldStart(protocol: Protocol): Promise<Figure[]> {
  using workspace = tempWorkspace({ git: true, files: { "README.md": "# a project\n" } })
  using hello = compiledHello()
  const rounds = 15
  await using server = await benchServer(
    workspace,
    protocol,
    Array.from({ length: rounds + 1 }, () => plan),
  )
  // The first one finds out what the model can do, which is remembered.
  await startedAtMs(workspace)
  const began: number[] = []
  const floor: number[] = []
  for (let round = 0; round < rounds; round++) {
    began.push(await startedAtMs(workspace))
    const helloMs = performance.now()
    await Bun.spawn([hello.path], { stdout: "ignore" }).exited
    floor.push(performance.now() - helloMs)
  }
  const asked = await server.finish()
  if (asked.length !== rounds + 1) throw new Error(`${rounds + 1} runs asked ${asked.length} times`)
  const took = began.map((beganMs, round) => (asked[round + 1]?.atMs ?? 0) - beganMs)
  const above = timingOf(took).p50 - timingOf(floor).p50
  return [atMost(`acode run to its first request, compiled, above hello (${protocol})`, above, 60)]
}

/** Runs a session that only plans to its end. Returns its start in milliseconds since the epoch. */
async function startedAtMs(workspace: TempWorkspace): Promise<number> {
  const beganMs = performance.timeOrigin + performance.now()
  const child = Bun.spawn([acode, "run", "measure", "--plan-only", "--json"], {
    cwd: workspace.root,
    env: { ...workspace.environment },
    stdout: "ignore",
    stderr: "ignore",
  })
  await child.exited
  return beganMs
}

async function turns(protocol: Protocol): Promise<Figure[]> {
  const reads: TurnOverHttp[] = []
  const writes: TurnOverHttp[] = []
  for (let session = 0; session < turnSessions; session++) {
    reads.push(await turn(protocol, "read"))
    writes.push(await turn(protocol, "write"))
  }
  const read = quickest(reads)
  return [
    atMost("turn over HTTP that reads, over its commits and a bare request", read.overMs, 1.5),
    atMost(
      "turn over HTTP that writes, over its commits, a bare request, the file and its pre-image",
      quickest(writes).overMs,
      2,
    ),
    atMost("first request of the executor", read.firstBytes / 1_000, 12, "kB"),
  ]
}

const turnSessions = 9

/** Measures in a new process, as a session runs in one. */
async function turn(protocol: Protocol, kind: "read" | "write"): Promise<TurnOverHttp> {
  const program = join(import.meta.dir, "http-turn-program.ts")
  const child = Bun.spawn([process.execPath, program, protocol, kind], { stdout: "pipe" })
  return JSON.parse(await child.stdout.text())
}

/**
 * The session with the quickest turns, whatever it is over its own floor: what a turn is over it grows and shrinks with
 * the pace of the machine, and what else the machine does only ever makes a session slower.
 */
function quickest(sessions: readonly TurnOverHttp[]): TurnOverHttp {
  return sessions.reduce((best, each) => (each.turnMs < best.turnMs ? each : best))
}

function inTheMiddle<Measured>(measured: readonly Measured[], by: (one: Measured) => number): Measured {
  const middle = measured.toSorted((a, b) => by(a) - by(b))[(measured.length - 1) / 2]
  if (middle === undefined) throw new Error("an odd number of times is measured")
  return middle
}

async function long(protocol: Protocol): Promise<Figure[]> {
  const ids = Array.from({ length: 25 }, (_, index) => `s${index}`)
  const replies = [
    reply.plan({ write: ["out/**"], steps: ids.map(id => open(id, "GENERATE_CODE")) }),
    ...ids.flatMap(id => [
      ...Array.from({ length: 8 }, (_, turn) => reply.write(`out/${id}-${turn}.txt`, `${turn}\n`)),
      reply.finish(),
    ]),
    reply.review("approve"),
  ]
  const { early, late, count } = await growth(protocol, replies)
  using workspace = tempWorkspace({ git: true, files: { "README.md": "# a project\n" } })
  await using server = await benchServer(workspace, protocol, replies)
  // A program that has been started before knows its configuration, and what the model can do.
  await peakMb([acode, "models", "probe"], workspace)
  const memory = await peakMb([acode, "run", "measure", "--yes=plan", "--json"], workspace)
  const asked = await server.finish()
  if (asked.length < count) throw new Error("the session came to no end")
  return [
    timesFloor(`turn ${count} of a session over HTTP against its first ones`, late, early, 1.2),
    atMost(`memory of a process with ${asked.length} requests, compiled`, memory, 100, "MB"),
  ]
}

interface Growth {
  readonly early: number
  readonly late: number
  readonly count: number
}

/** Returns the median of several sessions: the machine may change its pace within a single one. */
async function growth(protocol: Protocol, replies: Parameters<typeof benchServer>[2]): Promise<Growth> {
  const measured: Growth[] = []
  for (let session = 0; session < 5; session++) measured.push(await grown(protocol, replies))
  return inTheMiddle(measured, ({ early, late }) => late / early)
}

/** The time of turns at the beginning, after the first ones, and at the end. */
async function grown(protocol: Protocol, replies: Parameters<typeof benchServer>[2]): Promise<Growth> {
  using product = openProduct()
  await using _server = await benchServer(product.workspace, protocol, replies)
  const { seen } = await driven(product, null)
  const settled = spans(seen, "tool_call.settled", "tool_call.settled")
  return {
    early: timingOf(settled.slice(30, 90)).p50,
    late: timingOf(settled.slice(-60)).p50,
    count: settled.length,
  }
}
