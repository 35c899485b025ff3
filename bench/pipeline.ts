import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentEnd, agentVerbs } from "../src/app/agent-verbs.ts"
import { Wiring } from "../src/app/wire.ts"
import { systemIds } from "../src/base/clock.ts"
import { command } from "../src/domain/command-builder.ts"
import { defaultLimits } from "../src/domain/pipeline/settings.ts"
import type { StoredEvent } from "../src/store/contract.ts"
import { acodeProgram } from "../test/support/acode.ts"
import type { ReplyText } from "../test/support/agent-workspace.ts"
import { quietSurface } from "../test/support/golden-points.ts"
import { longSession } from "../test/support/long-session.ts"
import { contains, open, reply } from "../test/support/script-replies.ts"
import { durableCommits } from "./floors.ts"
import { timingOf } from "./measure.ts"
import { openProduct, type Product } from "./product.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"

/** What the agent lane adds when the model answers at once: to a turn, to a stage, to a session, to going on. */
export async function pipelineFigures(): Promise<Figure[]> {
  return [...(await turns()), ...(await whole()), ...(await commands()), ...(await long())]
}

interface Timed {
  readonly event: StoredEvent
  readonly atMs: number
}

async function driven(product: Product, replies: readonly ReplyText[]) {
  const script = join(product.workspace.outside, "script.json")
  writeFileSync(script, JSON.stringify({ replies }))
  const seen: Timed[] = []
  const surface = quietSurface(script, event => void seen.push({ event, atMs: performance.now() }))
  const limits = { ...defaultLimits, cyclesMax: 10, turnsMax: 1_000 }
  const began = performance.now()
  const end: AgentEnd = await agentVerbs(product.wiring).run(
    "measure",
    { ...settings, limits },
    { ...surface, acceptsPlans: true },
  )
  return { end, seen, tookMs: performance.now() - began, script }
}

const settings = {
  ...{ model: null, yes: null, contextFiles: [] },
  ...{ planOnly: false, approvePlan: false, skipVerify: false, requireReviewApproval: false },
}

/** Times from one event to another right after it, in sessions without anything else in between. */
function spans(seen: readonly Timed[], from: string, to: string): number[] {
  let beganMs: number | null = null
  return seen.flatMap(({ event: { type }, atMs }) => {
    const span = type === to && beganMs !== null ? [atMs - beganMs] : []
    if (type === from) beganMs = atMs
    else if (type === to || ends.has(type)) beganMs = null
    return span
  })
}

/** What ends a span that is not about it. */
const ends: ReadonlySet<string> = new Set(["step.finished", "step.started"])

const turnSteps = 40
const turnsPerStep = 8

function turning(call: (index: number) => Parameters<typeof reply.calls>[number]): readonly ReplyText[] {
  const ids = Array.from({ length: turnSteps }, (_, index) => `s${index}`)
  return [
    reply.plan({ write: ["out/**"], steps: ids.map(id => open(id, "GENERATE_CODE")) }),
    ...ids.flatMap((_, step) => [
      ...Array.from({ length: turnsPerStep }, (__, turn) => reply.calls(call(step * turnsPerStep + turn))),
      reply.write("out/last.txt", `${step}\n`),
      reply.finish(),
    ]),
    reply.review("approve"),
  ]
}

/** A turn is four commits: the request, the reply, the intent and the outcome. */
const commitsOfTurn = 4
/** The end of one stage with the move, and the beginning of the next. */
const commitsOfMove = 2

async function turns(): Promise<Figure[]> {
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const { workspace, checkpoints } = await product.wiring.workspace()
  for (let index = 0; index < turnsPerStep; index++)
    product.workspace.write(`read/${index}.txt`, "line\n".repeat(100))
  const read = await driven(
    product,
    turning(index => ["read_file", { path: `read/${index % turnsPerStep}.txt` }]),
  )
  const commitMs = timed(400, () => floor.commit())
  const write = await driven(
    product,
    turning(index => ["write_file", { path: `out/${index % 50}.txt`, content: `content ${index}\n` }]),
  )
  let count = 0
  const bareMs = timed(200, () => {
    checkpoints.takeFiles(systemIds.next("cal"), ["bare.txt"])
    workspace.write({ path: "bare.txt", content: Buffer.from(`content ${++count}\n`) })
  })
  const turnMs = (seen: readonly Timed[]) =>
    timingOf(spans(seen, "tool_call.settled", "tool_call.settled")).p50
  const moves = [...read.seen, ...write.seen].flatMap(({ event, atMs }, index, all) => {
    const before = all.slice(0, index).findLast(({ event: { type } }) => !moving.has(type))
    return event.type === "stage.entered" && before !== undefined ? [atMs - before.atMs] : []
  })
  const overCommits = (ms: number, commits: number) => ms - commits * commitMs
  return [
    atMost("turn that reads, over its four commits", overCommits(turnMs(read.seen), commitsOfTurn), 1.5),
    atMost(
      "turn that writes, over its four commits, the file and its pre-image",
      overCommits(turnMs(write.seen), commitsOfTurn) - bareMs,
      2,
    ),
    atMost("move to another stage, over its two commits", overCommits(timingOf(moves).p50, commitsOfMove), 2),
  ]
}

const moving: ReadonlySet<string> = new Set([
  "stage.finished",
  "stage.transitioned",
  "stage.entered",
  "cycle.started",
])

function timed(count: number, work: () => void): number {
  const samples = Array.from({ length: count }, () => {
    const began = performance.now()
    work()
    return performance.now() - began
  })
  return timingOf(samples.slice(count / 4)).p50
}

async function whole(): Promise<Figure[]> {
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const samples: number[] = []
  for (let run = 0; run < 12; run++) {
    const { tookMs, seen } = await driven(product, [
      reply.plan({ write: ["made.txt"], acceptance: [contains("made.txt", `run ${run}`)] }),
      reply.write("made.txt", `run ${run}\n`),
      reply.finish(),
      reply.review("approve"),
    ])
    samples.push(tookMs - seen.length * timed(8, () => floor.commit()))
  }
  return [
    atMost("whole session with an instant model, over a commit for each event", timingOf(samples).p50, 100),
  ]
}

async function commands(): Promise<Figure[]> {
  using product = openProduct()
  for (let index = 0; index < 500; index++) product.workspace.write(`tree/${index}.txt`, `${index}\n`)
  const { seen } = await driven(
    product,
    turning(index => ["run_command", { argv: ["true", String(index)] }]),
  )
  const runner = await product.wiring.unrecordedRunner()
  const { workspace } = await product.wiring.workspace()
  const bare: number[] = []
  for (let run = 0; run < 60; run++) {
    const began = performance.now()
    workspace.tree()
    await runner.execute(command("true").build())
    workspace.tree()
    bare.push(performance.now() - began)
  }
  const took = timingOf(spans(seen, "tool_call.settled", "tool_call.settled")).p50
  return [
    timesFloor(
      "turn that runs a command, against it and two walks of the tree",
      took,
      timingOf(bare).p50,
      1.5,
    ),
  ]
}

async function long(): Promise<Figure[]> {
  using product = openProduct()
  // The review is left out: without a reply the session rests and can be taken up again.
  const replies = longSession(100, 32, 1).slice(0, -1)
  const { seen, script, end } = await driven(product, replies)
  const settled = spans(seen, "tool_call.settled", "tool_call.settled")
  const start = timingOf(settled.slice(100, 500)).p50
  const last = timingOf(settled.slice(-400)).p50
  const readyMs = timingOf(await readyTimes(product, end.sessionId, script)).p50
  const child = Bun.spawnSync([acodeProgram(), "resume", end.sessionId, "--script", script, "--json"], {
    cwd: product.workspace.root,
    env: { ...product.workspace.environment },
    stdout: "ignore",
    stderr: "ignore",
  })
  return [
    timesFloor(`call ${settled.length} of a session against its first ones`, last, start, 1.2),
    atMost(`resume of a session with ${seen.length} events, to ready`, readyMs, 300),
    atMost("memory of a process that resumes it", (child.resourceUsage?.maxRSS ?? 0) / 1e6, 100, "MB"),
  ]
}

/** From nothing to the event that says it goes on; then it is paused again. */
async function readyTimes(product: Product, sessionId: string, script: string): Promise<readonly number[]> {
  const samples: number[] = []
  for (let run = 0; run < 5; run++) {
    const { environment, workspace, configFile } = product.wiring.request
    const began = performance.now()
    using wiring = new Wiring({ environment, workspace, configFile })
    const stopping = { drain: AbortSignal.abort(), stop: new AbortController().signal }
    const surface = quietSurface(script, ({ type }) => {
      if (type === "session.resumed") samples.push(performance.now() - began)
    })
    await agentVerbs(wiring).resume(
      sessionId,
      { change: same => same, skipsFailed: false },
      { ...surface, stopping },
    )
  }
  return samples
}
