import type { Protocol } from "../../src/domain/model-choice.ts"
import { barePreImage, durableCommits } from "../floors.ts"
import { staying } from "../measure.ts"
import { openProduct } from "../product.ts"
import { sampled } from "../sampled.ts"
import { driven, spans, turning } from "./driven-session.ts"
import { benchServer } from "./model-server.ts"

/** `bun http-turn-program.ts PROTOCOL read|write` prints what a turn of that kind takes over HTTP, in one session. */
export interface TurnOverHttp {
  readonly turnMs: number
  /** Over its commits and a bare request. */
  readonly overMs: number
  /** The size of the executor's first request. */
  readonly firstBytes: number
}

const commitsOfTurn = 4

/** A file and its pre-image count by themselves. */
async function turn(
  protocol: Protocol,
  writes: boolean,
  call: Parameters<typeof turning>[0],
): Promise<TurnOverHttp> {
  using product = openProduct()
  for (let index = 0; index < 8; index++) product.workspace.write(`read/${index}.txt`, "line\n".repeat(100))
  const replies = turning(call)
  await using server = await benchServer(product.workspace, protocol, replies)
  using floor = durableCommits(product.workspace.outside)
  const { workspace } = await product.wiring.workspace()
  const commits = sampled(() => floor.commit())
  let count = 0
  const files = sampled(() => {
    barePreImage(product.workspace.outside, `content ${count}\n`)
    workspace.write({ path: "bare.txt", content: Buffer.from(`content ${++count}\n`) })
  })
  const { seen } = await driven(product, null, () => {
    commits.take()
    if (writes) files.take()
  })
  const bodies = (await server.finish()).map(({ body }) => JSON.stringify(body))
  await using again = await benchServer(product.workspace, protocol, replies)
  const turnMs = staying(spans(seen, "tool_call.settled", "tool_call.settled")).p50
  const bareMs = await bareRequestMs(again.endpoint, bodies, turnMs)
  const floorMs = bareMs + commitsOfTurn * commits.p50() + (writes ? files.p50() : 0)
  return { turnMs, overMs: turnMs - floorMs, firstBytes: bodies[1]?.length ?? 0 }
}

/**
 * Measures the minimum cost of the same requests at the pace of a session: each on a new connection, with its reply
 * read to the end. Without pauses server and connection would be warmer than in a session, which works in between.
 */
async function bareRequestMs(endpoint: string, bodies: readonly string[], paceMs: number): Promise<number> {
  const samples: number[] = []
  for (const body of bodies) {
    const began = performance.now()
    const request = { method: "POST", body, keepalive: false }
    const { body: reply } = await fetch(`${endpoint}/v1/chat/completions`, request)
    for await (const _ of reply ?? []);
    samples.push(performance.now() - began)
    while (performance.now() - began < paceMs);
  }
  return staying(samples).p50
}

const [protocol = "openai", kind = "read"] = process.argv.slice(2)
const reads = (index: number) => ["read_file", { path: `read/${index % 8}.txt` }] as const
const writes = (index: number) =>
  ["write_file", { path: `out/${index % 50}.txt`, content: `content ${index}\n` }] as const
const writing = kind === "write"
// as: the bench names no other one.
const measured = await turn(protocol as Protocol, writing, writing ? writes : reads)
process.stdout.write(JSON.stringify(measured))
