import { errnoOf } from "../../base/assert.ts"
import { oneLine } from "../../base/text.ts"
import type { ModelFailure, ModelFailureKind } from "../contract.ts"
import { abortedFailure, modelFailure, ReplyFault } from "../reply-fault.ts"
import type {
  Egress,
  Endpoint,
  ExternalCallLog,
  Transport,
  TransportLimits,
  TransportReply,
  TransportRequest,
} from "./contract.ts"
import { refusal, type Way, waysTo } from "./egress.ts"
import { endpointName } from "./endpoint.ts"
import { httpFailure } from "./failures.ts"

/** The way to one server. What the mode forbids is refused at each request, before anything else happens. */
export function openTransport({ endpoint, egress, externalCalls }: TransportOptions): Transport {
  const name = endpointName(endpoint)
  const leaving = endpoint.isLocal ? null : externalCalls
  const connection = { endpoint, ways: waysTo(endpoint), session: sessionFor(endpoint) }
  const refused = refusal(egress, endpoint)
  return {
    endpoint: name,
    async send(request, signal) {
      if (refused !== null) return { kind: "failed", failure: refused }
      const ended = leaving?.began(request.method, name + pathOf(request))
      const attempt = startAttempt(request.limits, signal)
      let status: number | null = null
      try {
        const response = await exchange(connection, request, attempt)
        status = response.status
        const reply = answered(response, attempt, name)
        ended?.(status, null)
        return reply
      } catch (error) {
        attempt.end()
        const failure = httpFailure(error, name)
        ended?.(status, failure.kind)
        return { kind: "failed", failure }
      }
    },
  }
}

interface TransportOptions {
  readonly endpoint: Endpoint
  readonly egress: Egress
  readonly externalCalls: ExternalCallLog
}

function pathOf({ path }: TransportRequest): string {
  const query = path.search(/[?#]/)
  return query === -1 ? path : path.slice(0, query)
}

/**
 * Nothing of the environment changes where a request goes or how it is protected: no proxy, and certificates are
 * always checked. No connection is kept, because a request on one that the server has just closed is sent twice.
 */
function sessionFor({ url, socket }: Endpoint): Bun.FetchSession {
  const isNamedLocalhost = new URL(url).hostname === "localhost"
  return new Bun.FetchSession({
    proxy: false,
    keepAlive: false,
    tls: { rejectUnauthorized: true, ...(isNamedLocalhost ? { serverName: "localhost" } : {}) },
    ...(socket === null ? {} : { unix: socket }),
  })
}

interface Connection {
  readonly endpoint: Endpoint
  readonly ways: readonly Way[]
  readonly session: Bun.FetchSession
}

async function exchange(
  { endpoint, ways, session }: Connection,
  request: TransportRequest,
  attempt: Attempt,
): Promise<Response> {
  if (!request.path.startsWith("/")) throw fault("badRequest", "the path of a request begins with a slash")
  // On this machine the system connects or refuses at once, whatever the server does.
  if (!endpoint.isLocal) {
    attempt.limit("connectMs")
    await attempt.within(connect(endpoint, attempt.signal))
  }
  attempt.limit("firstByteMs")
  const [way, other] = ways
  if (way === undefined) throw new Error("there is a way to every server")
  try {
    return await asked(way, session, request, attempt)
  } catch (error) {
    // Nothing was sent. What is told is the first refusal: a machine without IPv6 fails there in its own way.
    if (other === undefined || !isRefused(error)) throw error
    return await asked(other, session, request, attempt).catch((again: unknown) => {
      throw isConnected(again) ? again : error
    })
  }
}

function asked(way: Way, session: Bun.FetchSession, request: TransportRequest, attempt: Attempt) {
  return attempt.within(
    session.fetch(way.url + request.path, {
      method: request.method,
      headers: headersOf(request, way),
      body: request.body,
      redirect: "manual",
      decompress: false,
      // The limits are ours; Bun's own would end a model that thinks for five minutes.
      timeout: false,
      // A variable of the environment would print every request with its key.
      verbose: false,
      signal: attempt.signal,
    }),
  )
}

/** What says that somebody was there, or that we stopped. */
function isConnected(error: unknown): boolean {
  return error instanceof ReplyFault || errnoOf(error) === "ECONNRESET"
}

function isRefused(error: unknown): boolean {
  return ["ECONNREFUSED", "ConnectionRefused"].includes(errnoOf(error) ?? "")
}

function headersOf({ headers }: TransportRequest, { host }: Way): Headers {
  try {
    const all = new Headers({ "user-agent": "acode", ...headers })
    all.set("host", host)
    // A few compressed bytes can stand for gigabytes.
    all.set("accept-encoding", "identity")
    return all
  } catch {
    // The error's own message may quote the key.
    throw fault("badRequest", "a header has signs that no header may have: see whether the API key is right")
  }
}

function answered(response: Response, attempt: Attempt, name: string): TransportReply {
  const { status, headers } = response
  if (status >= 300 && status < 400) {
    const target = oneLine(headers.get("location") ?? "nowhere", 200)
    throw fault(
      "badRequest",
      `${name} sends elsewhere (${status}, to ${target}), which is not followed: correct the endpoint`,
    )
  }
  const encoding = headers.get("content-encoding") ?? "identity"
  if (encoding !== "identity")
    throw fault("malformed", `${name} answers compressed (${oneLine(encoding, 50)}), and was asked not to`)
  const chunks = receivedChunks(response.body, attempt, name)
  return { kind: "answered", status, header: header => headers.get(header), chunks }
}

function fault(kind: ModelFailureKind, message: string): ReplyFault {
  return new ReplyFault(modelFailure(kind, message))
}

/**
 * Connects once, sends nothing and hangs up, because a request does not tell when it is connected, and a server that
 * is not there is not to be waited for as long as one that thinks. Throws the system's error.
 */
export async function connect(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  const url = new URL(endpoint.url)
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  // Bun's own sockets cannot be called off while they connect, and would keep a finished process waiting. Loaded
  // here, because it takes longer to load than everything else at the start.
  const { createConnection } = await import("node:net")
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = createConnection(endpoint.socket === null ? { host, port } : { path: endpoint.socket })
  const callOff = () => reject(signal.reason)
  signal.addEventListener("abort", callOff)
  socket.on("connect", resolve)
  socket.on("error", reject)
  try {
    await promise
  } finally {
    signal.removeEventListener("abort", callOff)
    socket.destroy()
  }
}

const replyBytesMax = 64 * 1024 * 1024

/**
 * A body piece by piece, under the limits of its attempt, which ends with it. Not a generator: one that was never
 * started ignores that it is returned, and the connection would stay.
 */
export function receivedChunks(
  body: ReadableStream<Uint8Array> | null,
  attempt: Attempt,
  name: string,
): AsyncIterable<Uint8Array> {
  const reader = body?.getReader()
  if (reader === undefined) attempt.end()
  let bytes = 0
  let isOver = reader === undefined
  const end = () => {
    isOver = true
    attempt.end()
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      if (isOver || reader === undefined) return { done: true, value: undefined }
      try {
        if (bytes > 0) attempt.limit("betweenMs")
        const piece = await attempt.within(reader.read())
        attempt.pause()
        if (!piece.done) {
          bytes += piece.value.byteLength
          if (bytes > replyBytesMax) throw tooLong(name)
          return piece
        }
      } catch (error) {
        end()
        throw new ReplyFault(httpFailure(error, name))
      }
      end()
      return { done: true, value: undefined }
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

function tooLong(name: string): ReplyFault {
  return new ReplyFault(
    modelFailure("malformed", `the answer of ${name} is longer than ${replyBytesMax} bytes`),
  )
}

/** One request and its reply: what can stop it, and which of it did. */
interface Attempt {
  /** Fires when the attempt is over, however it ended. */
  readonly signal: AbortSignal
  /** From now on this limit runs instead of the one before. */
  limit(which: "connectMs" | "firstByteMs" | "betweenMs"): void
  /** Nobody waits for the server now. Only the limit of the whole goes on. */
  pause(): void
  /** The same value, or `ReplyFault` as soon as the attempt is stopped, even if the promise never settles. */
  within<Value>(promise: Promise<Value>): Promise<Value>
  /** Gives back every timer and listener, and ends the connection. */
  end(): void
}

/** Nobody looks at it. Without one an error with its whole stack is made for each request. */
const over = Symbol("over")

/** A timer of more would fire at once. */
const timerMsMax = 2_147_483_647

/**
 * Time and the caller have a way each to stop an attempt, and what came first is remembered: on one common signal a
 * server that is too slow looks like a person who gave up, and would not be asked again.
 */
export function startAttempt(limits: TransportLimits, caller: AbortSignal): Attempt {
  const controller = new AbortController()
  let fault: ReplyFault | null = null
  let onStop: ((fault: ReplyFault) => void) | null = null
  let stage: Timer | undefined
  const stop = (failure: ModelFailure) => {
    fault = new ReplyFault(failure)
    onStop?.(fault)
    end()
  }
  const abort = () => stop(abortedFailure)
  const timer = (which: keyof TransportLimits) =>
    setTimeout(() => stop(timeoutFailure(which, limits[which])), Math.min(limits[which], timerMsMax))
  const whole = timer("wholeMs")
  const end = () => {
    clearTimeout(whole)
    clearTimeout(stage)
    caller.removeEventListener("abort", abort)
    controller.abort(over)
  }
  caller.addEventListener("abort", abort)
  if (caller.aborted) abort()
  return {
    signal: controller.signal,
    limit(which) {
      clearTimeout(stage)
      if (!controller.signal.aborted) stage = timer(which)
    },
    pause: () => clearTimeout(stage),
    within: promise =>
      new Promise((resolve, reject) => {
        if (fault !== null) reject(fault)
        onStop = reject
        promise.then(resolve, reject)
      }),
    end,
  }
}

type Timer = ReturnType<typeof setTimeout>

function timeoutFailure(which: keyof TransportLimits, ms: number): ModelFailure {
  return modelFailure("timeout", `${tooSlow[which]} within ${ms / 1000} s`)
}

const tooSlow: Readonly<Record<keyof TransportLimits, string>> = {
  connectMs: "no connection to the model server",
  firstByteMs: "the model server did not begin to answer",
  betweenMs: "the model server stopped in the middle of its answer and said nothing more",
  wholeMs: "the model server did not finish its answer",
}
