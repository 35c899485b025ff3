import { join } from "node:path"
import { systemIds } from "../src/base/clock.ts"
import type { Protocol } from "../src/domain/model-choice.ts"
import { toolDescriptions } from "../src/engine/stages/model-schemas.ts"
import { repositoryRoot } from "../test/support/acode.ts"
import { open, reply } from "../test/support/script-replies.ts"
import { type TempWorkspace, tempWorkspace } from "../test/support/temp-workspace.ts"
import { driven, spans, turning } from "./driven-session.ts"
import { compiledHello, durableCommits } from "./floors.ts"
import { timingOf } from "./measure.ts"
import { type BenchServer, benchServer } from "./model-server.ts"
import { peakMb } from "./peak-memory.ts"
import { openProduct } from "./product.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"
import { sampled } from "./sampled.ts"

/** What a session over real HTTP costs beside the model: until it is asked, for each turn, and when it is long. */
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

/** From the start of the compiled program to the moment the server has its first request to the model. */
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
  await firstRequest(workspace, server)
  const took: number[] = []
  const floor: number[] = []
  for (let round = 0; round < rounds; round++) {
    took.push(await firstRequest(workspace, server))
    const began = performance.now()
    await Bun.spawn([hello.path], { stdout: "ignore" }).exited
    floor.push(performance.now() - began)
  }
  const above = timingOf(took).p50 - timingOf(floor).p50
  return [atMost(`acode run to its first request, compiled, above hello (${protocol})`, above, 60)]
}

async function firstRequest(workspace: TempWorkspace, { asked }: BenchServer): Promise<number> {
  const before = asked.length
  const beganMs = performance.timeOrigin + performance.now()
  const child = Bun.spawn([acode, "run", "measure", "--plan-only", "--json"], {
    cwd: workspace.root,
    env: { ...workspace.environment },
    stdout: "ignore",
    stderr: "ignore",
  })
  await child.exited
  const first = asked[before]
  if (first === undefined) throw new Error(`acode run asked nobody, and exits ${child.exitCode}`)
  return first.atMs - beganMs
}

const commitsOfTurn = 4

async function turns(protocol: Protocol): Promise<Figure[]> {
  const read = await turn(protocol, false, index => ["read_file", { path: `read/${index % 8}.txt` }])
  const write = await turn(protocol, true, index => [
    "write_file",
    { path: `out/${index % 50}.txt`, content: `content ${index}\n` },
  ])
  return [
    atMost("turn over HTTP that reads, over its commits and a bare request", read.overMs, 1.5),
    atMost(
      "turn over HTTP that writes, over its commits, a bare request, the file and its pre-image",
      write.overMs - write.fileMs,
      2,
    ),
    atMost("first request of the executor", read.firstBytes / 1_000, 12, "kB"),
  ]
}

/** What a turn takes over its commits and a bare request, and what a file and its pre-image take by themselves. */
async function turn(protocol: Protocol, writes: boolean, call: Parameters<typeof turning>[0]) {
  using product = openProduct()
  for (let index = 0; index < 8; index++) product.workspace.write(`read/${index}.txt`, "line\n".repeat(100))
  await using server = await benchServer(product.workspace, protocol, turning(call))
  using floor = durableCommits(product.workspace.outside)
  const { workspace, checkpoints } = await product.wiring.workspace()
  const commits = sampled(() => floor.commit())
  let count = 0
  const files = sampled(() => {
    checkpoints.takeFiles(systemIds.next("cal"), ["bare.txt"])
    workspace.write({ path: "bare.txt", content: Buffer.from(`content ${++count}\n`) })
  })
  // A server that has just started is slow itself, and would be taken for acode's part.
  await roundTripMs(server.endpoint)
  const { seen } = await driven(product, null, () => {
    commits.take()
    if (writes) files.take()
  })
  const turnMs = timingOf(spans(seen, "tool_call.settled", "tool_call.settled")).p50
  const overMs = turnMs - (await roundTripMs(server.endpoint)) - commitsOfTurn * commits.p50()
  return { overMs, fileMs: files.p50(), firstBytes: server.asked[1]?.bytes ?? 0 }
}

/** The least anybody pays to ask a server of this machine on a new connection, and to hear a streamed call out. */
async function roundTripMs(endpoint: string): Promise<number> {
  const call = (id: string) => ({
    ...{ role: "assistant", content: null },
    tool_calls: [
      { id, type: "function", function: { name: "read_file", arguments: '{"path":"read/1.txt"}' } },
    ],
  })
  const earlier = ["a", "b", "c", "d"].flatMap(id => [
    call(id),
    { role: "tool", tool_call_id: id, content: "line\n".repeat(100) },
  ])
  const tools = [
    ...toolDescriptions,
    { name: "acode_probe", description: "", parameters: { type: "object" } },
  ]
  const body = JSON.stringify({
    ...{ model: "any", stream: true, max_tokens: 100 },
    messages: [
      { role: "system", content: "x".repeat(1_500) },
      { role: "user", content: "x".repeat(1_500) },
      ...earlier,
      { role: "user", content: 'acode probe: call it with the arguments {"path":"read/1.txt"}' },
    ],
    tools: tools.map(tool => ({ type: "function", function: tool })),
  })
  const samples: number[] = []
  for (let run = 0; run < 400; run++) {
    const began = performance.now()
    const request = { method: "POST", body, keepalive: false }
    const { body: reply } = await fetch(`${endpoint}/v1/chat/completions`, request)
    for await (const _ of reply ?? []);
    samples.push(performance.now() - began)
  }
  return timingOf(samples.slice(300)).p50
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
  if (server.asked.length < count) throw new Error("the session came to no end")
  return [
    timesFloor(`turn ${count} of a session over HTTP against its first ones`, late, early, 1.2),
    atMost(`memory of a process with ${server.asked.length} requests, compiled`, memory, 100, "MB"),
  ]
}

/** How long turns take at the beginning, when the first ones are over, and at the end. */
async function growth(protocol: Protocol, replies: Parameters<typeof benchServer>[2]) {
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
