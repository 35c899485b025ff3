import { wires } from "../../support/model-server/encode.ts"
import {
  bytes,
  chunked,
  chunkedHead,
  joined,
  lastChunk,
  responseHead,
  whole,
} from "../../support/model-server/http.ts"
import { bodied, healthy, healthyBytes, healthyReply } from "./bench.ts"
import {
  type Bench,
  brokenOff,
  type FaultCase,
  fails,
  faultOf,
  malformed,
  timedOut,
  truncated,
  unavailable,
} from "./fault-case.ts"

/** What happens below the protocol: connections, time, and HTTP itself. */
export function connectionCases(bench: Bench): readonly FaultCase[] {
  return [...lost(bench), ...stalled(bench), ...aborted(bench), ...wrongLengths(bench), ...oddButFine(bench)]
}

const okHead = (bench: Bench, headers: Readonly<Record<string, string>> = {}) =>
  responseHead(200, { "content-type": typeOf(bench), ...headers })

const chunkHead = (bench: Bench) => chunkedHead(typeOf(bench))

const typeOf = ({ protocol, streams }: Bench) => (streams ? wires[protocol].streamType : "application/json")

const half = (body: Uint8Array) => body.subarray(0, body.byteLength >> 1)

function lost(bench: Bench): readonly FaultCase[] {
  const body = healthyBytes(bench)
  return [
    { name: "nobody listens", fault: healthy, isRefused: true, wanted: [unavailable] },
    { name: "reset before headers", fault: faultOf({ reset: true }), wanted: [unavailable] },
    { name: "closed before headers", fault: faultOf({ close: true }), wanted: [unavailable] },
    {
      name: "closed within the status line",
      fault: faultOf(bytes("HTTP/1.1 20"), { close: true }),
      wanted: [unavailable, malformed],
    },
    {
      name: "reset after headers",
      fault: faultOf(chunkHead(bench), { reset: true }),
      wanted: [unavailable],
    },
    {
      name: "closed after headers",
      fault: faultOf(chunkHead(bench), { close: true }),
      wanted: brokenOff,
    },
    {
      name: "reset in the middle",
      fault: faultOf(chunkHead(bench), chunked(half(body)), { reset: true }),
      wanted: [unavailable],
    },
    {
      name: "no HTTP at all",
      fault: faultOf(bytes("SSH-2.0-OpenSSH_9.2p1\r\n"), { close: true }),
      wanted: [malformed, unavailable],
    },
    {
      name: "headers without end",
      fault: faultOf(bytes(`HTTP/1.1 200 OK\r\nx-a: ${"a".repeat(1_000_000)}\r\n\r\n`), { close: true }),
      wanted: brokenOff,
    },
  ]
}

/** Where calls are offered a silence is no stall before it is as long as the one before the first piece may be. */
const silence = { firstByteMs: 200, betweenMs: 40 }

function stalled(bench: Bench): readonly FaultCase[] {
  const body = healthyBytes(bench)
  const drip = [...half(body)].slice(0, 40).flatMap(byte => [chunked(new Uint8Array([byte])), { waitMs: 5 }])
  return [
    {
      name: "nothing at all",
      fault: faultOf({ hang: true }),
      limits: { firstByteMs: 40 },
      wanted: [timedOut],
    },
    {
      name: "headers and then nothing",
      fault: faultOf(chunkHead(bench), { hang: true }),
      limits: { firstByteMs: 40 },
      wanted: [timedOut],
    },
    {
      name: "nothing more after the first piece",
      fault: faultOf(chunkHead(bench), chunked(half(body)), { hang: true }),
      limits: silence,
      wanted: [timedOut],
    },
    {
      name: "always a little more, for too long",
      fault: faultOf(chunkHead(bench), ...drip, { hang: true }),
      limits: { wholeMs: 60 },
      wanted: [timedOut],
    },
    {
      name: "an error that does not end",
      fault: faultOf(responseHead(503, { "content-length": "100" }), bytes('{"err'), { hang: true }),
      limits: silence,
      wanted: [fails("overloaded"), timedOut],
    },
  ]
}

function aborted(bench: Bench): readonly FaultCase[] {
  const stopped = [fails("aborted")]
  const body = healthyBytes(bench)
  const goingOn = Array.from({ length: 20 }, () => [chunked(bytes(": still here\n")), { waitMs: 2 }]).flat()
  const cases: readonly FaultCase[] = [
    { name: "given up before it began", fault: healthy, abort: "before", wanted: stopped },
    {
      name: "given up while the server says nothing",
      fault: faultOf({ hang: true }),
      abort: "sent",
      wanted: stopped,
    },
    {
      name: "given up, and the server goes on all the same",
      fault: faultOf({ waitMs: 20 }, chunkHead(bench), ...goingOn, lastChunk),
      abort: "sent",
      wanted: stopped,
    },
  ]
  if (!bench.streams) return cases
  return [
    ...cases,
    {
      name: "given up at the first word",
      fault: faultOf(chunkHead(bench), chunked(half(body)), { hang: true }),
      abort: "text",
      wanted: stopped,
    },
  ]
}

function wrongLengths(bench: Bench): readonly FaultCase[] {
  const body = healthyBytes(bench)
  const sized = (length: number) => okHead(bench, { "content-length": String(length) })
  return [
    {
      name: "longer content announced than sent",
      fault: faultOf(sized(body.byteLength + 50), half(body), { close: true }),
      wanted: brokenOff,
    },
    {
      name: "shorter content announced than sent",
      fault: faultOf(sized(body.byteLength >> 1), body, { close: true }),
      wanted: brokenOff,
    },
    {
      name: "no content announced",
      fault: faultOf(sized(0), { close: true }),
      wanted: [malformed, truncated],
    },
    {
      name: "a chunk whose size is no number",
      fault: faultOf(chunkHead(bench), bytes("zz\r\nhello\r\n"), { close: true }),
      wanted: [unavailable, malformed],
    },
    {
      name: "a chunk that is longer than it says",
      fault: faultOf(chunkHead(bench), bytes("5\r\n"), body, bytes("\r\n0\r\n\r\n"), { close: true }),
      wanted: brokenOff,
    },
    {
      name: "chunks that do not end, though the reply does",
      fault: faultOf(chunkHead(bench), chunked(body), { close: true }),
      wanted: bench.streams ? [healthyReply, ...brokenOff] : brokenOff,
    },
    {
      name: "compressed, though nobody asked for it",
      fault: faultOf(whole(200, Bun.gzipSync(Buffer.from(body)), { "content-encoding": "gzip" })),
      wanted: [malformed],
    },
  ]
}

function oddButFine(bench: Bench): readonly FaultCase[] {
  const body = healthyBytes(bench)
  const fine = (name: string, fault: FaultCase["fault"], more: Partial<FaultCase> = {}): FaultCase => ({
    name,
    fault,
    wanted: [healthyReply],
    ...more,
  })
  const single = [...body].map(byte => chunked(new Uint8Array([byte])))
  const extended = [bytes(`${body.byteLength.toString(16)};a=b\r\n`), body, bytes("\r\n")]
  return [
    fine("a healthy reply", healthy),
    fine("a reply that takes its time", { ...healthy, delayMs: 20 }),
    fine("one byte in each chunk", faultOf(chunkHead(bench), joined([...single, lastChunk]))),
    fine("everything at once", faultOf(joined([chunkHead(bench), chunked(body), lastChunk]))),
    fine("ended by closing", faultOf(okHead(bench, { connection: "close" }), body, { close: true })),
    fine("chunks with extensions", faultOf(chunkHead(bench), ...extended, lastChunk)),
    fine(
      "trailers behind the chunks",
      faultOf(chunkHead(bench), chunked(body), bytes("0\r\nx-a: b\r\n\r\n")),
    ),
    fine("bytes behind the end", faultOf(bodiedActs(bench, body), bytes("HTTP/1.1 500 No\r\n\r\n"))),
    fine(
      "hints before the answer",
      faultOf(bytes("HTTP/1.1 103 Early Hints\r\n\r\n"), bodiedActs(bench, body)),
    ),
    ...(bench.streams
      ? [
          fine(
            "a connection that stays open behind the end",
            faultOf(chunkHead(bench), chunked(body), { hang: true }),
            { limits: { betweenMs: 200 } },
          ),
        ]
      : []),
  ]
}

function bodiedActs(bench: Bench, body: Uint8Array): Uint8Array {
  return joined(bodied(bench, body).acts.flatMap(act => ("send" in act ? [act.send] : [])))
}
