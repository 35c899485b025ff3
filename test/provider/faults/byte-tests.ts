import { describe, expect, test } from "bun:test"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import type { ModelReply } from "../../../src/provider/contract.ts"
import { collect } from "../../../src/provider/reply.ts"
import type { FakeReply, Fault } from "../../support/model-server/contract.ts"
import { wires } from "../../support/model-server/encode.ts"
import { chunked, chunkedHead, joined, lastChunk, responseHead } from "../../support/model-server/http.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { healthyBytes } from "./bench.ts"
import { type Bench, faultOf } from "./fault-case.ts"
import { type Create, request, settingsOf, transportTo } from "./run-case.ts"

/** Short, so that every byte of it can be the last one. */
const short: FakeReply = {
  text: "ö",
  calls: [{ id: "c", tool: "t", arguments: { a: "🙂" } }],
  usage: { input: 20, output: 10 },
  end: "calls",
}

const askedAtOnce = 12

/** A reply that ends, or is cut in two, at each of its bytes: it is the whole reply or none, and never a part. */
export function byteTests(protocol: Protocol, create: Create): void {
  describe.each([true, false])(`${protocol}, byte by byte, streaming: %p`, streams => {
    const bench: Bench = { protocol, streams, flavour: "plain" }
    const body = healthyBytes(bench, short)
    const type = streams ? wires[protocol].streamType : "application/json"
    const sent = joined([chunkedHead(type), chunked(body), lastChunk])
    const open = responseHead(200, { "content-type": type, connection: "close" })

    test("reset at every byte", async () => {
      const cut = (at: number) => faultOf(sent.subarray(0, at), { reset: true })
      const replies = await all(bench, create, sent.byteLength, cut)
      expect(replies.filter(reply => !isWholeOrFailed(reply))).toEqual([])
      expect(replies.filter(({ failure }) => failure !== null).length).toBeGreaterThan(sent.byteLength / 2)
    })

    test("closed at every byte, where closing is the end", async () => {
      const cut = (at: number) => faultOf(joined([open, body.subarray(0, at)]), { close: true })
      const replies = await all(bench, create, body.byteLength, cut)
      expect(replies.filter(reply => !isWholeOrFailed(reply))).toEqual([])
      expect(replies.filter(({ failure }) => failure !== null).length).toBeGreaterThan(body.byteLength / 2)
    })

    test("cut in two at every byte", async () => {
      const cut = (at: number) =>
        faultOf(joined([open, body.subarray(0, at)]), { waitMs: 1 }, body.subarray(at), { close: true })
      const replies = await all(bench, create, body.byteLength, cut)
      expect(replies.filter(reply => reply.failure !== null || !isWholeOrFailed(reply))).toEqual([])
    })
  })
}

async function all(
  bench: Bench,
  create: Create,
  count: number,
  cut: (at: number) => Fault,
): Promise<readonly ModelReply[]> {
  await using server = await startModelServer({ protocol: bench.protocol, answer: (_, index) => cut(index) })
  const provider = create(transportTo(server.endpoint)).provider(settingsOf(bench))
  const replies: ModelReply[] = []
  let started = 0
  const worker = async () => {
    while (started < count) {
      started += 1
      const { signal } = new AbortController()
      replies.push(await collect(provider.ask(request, signal), signal))
    }
  }
  await Promise.all(Array.from({ length: askedAtOnce }, worker))
  expect(server.chats.length).toBe(count)
  return replies
}

/** The usage may be missing: it comes behind everything that matters. */
function isWholeOrFailed({ failure, text, calls, end, problems }: ModelReply): boolean {
  if (failure !== null)
    return (
      failure.retryable &&
      ["unavailable", "truncated", "malformed"].includes(failure.kind) &&
      calls.length === 0
    )
  const [call] = calls
  return (
    text === short.text &&
    end === "calls" &&
    problems.length === 0 &&
    calls.length === 1 &&
    Bun.deepEquals([call?.tool, call?.arguments], ["t", { a: "🙂" }])
  )
}
