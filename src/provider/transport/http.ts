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
import { type Route, refusal, routesTo } from "./egress.ts"
import { endpointName } from "./endpoint.ts"
import { httpFailure } from "./failures.ts"

/** Opens the connection to one server. Each request that the mode forbids is refused before anything else happens. */
export function openTransport({ endpoint, egress, externalCalls }: TransportOptions): Transport {
  const name = endpointName(endpoint)
  const leaving = endpoint.isLocal ? null : externalCalls
  const connection = { endpoint, routes: routesTo(endpoint), session: sessionFor(endpoint) }
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
 * Creates a session that nothing in the environment can redirect or weaken: no proxy, and certificates are always
 * checked. No connection is kept open, because a request on one that the server has just closed is sent twice.
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
  readonly routes: readonly Route[]
  readonly session: Bun.FetchSession
}

async function exchange(
  { endpoint, routes, session }: Connection,
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
  const [route, fallback] = routes
  if (route === undefined) throw new Error("every server has a route")
  try {
    return await sendOver(route, session, request, attempt)
  } catch (error) {
    // Nothing was sent. The first refusal is reported: a machine without IPv6 fails for the second address in its own
    // way.
    if (fallback === undefined || !isRefused(error)) throw error
    return await sendOver(fallback, session, request, attempt).catch((again: unknown) => {
      throw isConnected(again) ? again : error
    })
  }
}

function sendOver(route: Route, session: Bun.FetchSession, request: TransportRequest, attempt: Attempt) {
  return attempt.within(
    session.fetch(route.url + request.path, {
      method: request.method,
      headers: headersOf(request, route),
      body: request.body,
      redirect: "manual",
      decompress: false,
      // acode has its own limits; Bun's would end a model that thinks for five minutes.
      timeout: false,
      // An environment variable would print every request with its key.
      verbose: false,
      signal: attempt.signal,
    }),
  )
}

/** Reports whether the error shows that there was a connection, or that acode stopped. */
function isConnected(error: unknown): boolean {
  return error instanceof ReplyFault || errnoOf(error) === "ECONNRESET"
}

function isRefused(error: unknown): boolean {
  return ["ECONNREFUSED", "ConnectionRefused"].includes(errnoOf(error) ?? "")
}

function headersOf({ headers }: TransportRequest, { host }: Route): Headers {
  try {
    const all = new Headers({ "user-agent": "acode", ...headers })
    all.set("host", host)
    // A few compressed bytes can expand to gigabytes.
    all.set("accept-encoding", "identity")
    return all
  } catch {
    // The error's own message may quote the key.
    throw fault("badRequest", "a header contains an invalid character; check the API key")
  }
}

function answered(response: Response, attempt: Attempt, name: string): TransportReply {
  const { status, headers } = response
  if (status >= 300 && status < 400) {
    const target = oneLine(headers.get("location") ?? "no address", 200)
    throw fault(
      "badRequest",
      `${name} redirects (${status}, to ${target}), which is not followed: correct the endpoint`,
    )
  }
  const encoding = headers.get("content-encoding") ?? "identity"
  if (encoding !== "identity")
    throw fault(
      "malformed",
      `${name} sends a compressed answer (${oneLine(encoding, 50)}) although none was requested`,
    )
  const chunks = receivedChunks(response.body, attempt, name)
  return { kind: "answered", status, header: header => headers.get(header), chunks }
}

function fault(kind: ModelFailureKind, message: string): ReplyFault {
  return new ReplyFault(modelFailure(kind, message))
}

/**
 * Connects once, sends nothing and disconnects, because a request does not report when it is connected, and a missing
 * server deserves a shorter wait than one that thinks. Throws the system's error.
 */
export async function connect(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  const url = new URL(endpoint.url)
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  // Bun's own sockets cannot be cancelled while they connect, and would delay the exit of the process. Loaded here,
  // because it takes longer to load than everything else at the start.
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
 * Returns a body piece by piece, under the limits of its attempt, which ends with it. Not a generator: one that was
 * never started ignores its return, and the connection would stay open.
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

/** One request and its reply: what can stop it, and what did. */
interface Attempt {
  /** Fires when the attempt is over, however it ended. */
  readonly signal: AbortSignal
  /** Starts this limit instead of the one before. */
  limit(which: "connectMs" | "firstByteMs" | "betweenMs"): void
  /** Stops the current limit while the caller does not wait for the server. The limit of the whole continues. */
  pause(): void
  /**
   * Returns the same value, or throws `ReplyFault` as soon as the attempt is stopped, even if the promise never
   * settles.
   */
  within<Value>(promise: Promise<Value>): Promise<Value>
  /** Releases every timer and listener, and ends the connection. */
  end(): void
}

/** The abort reason, which is never read. Without one an error with its whole stack is made for each request. */
const over = Symbol("over")

/** A timer of more would fire at once. */
const timerMsMax = 2_147_483_647

/**
 * Starts an attempt. Time and the caller can stop it separately, and the first is remembered: on one common signal a
 * server that is too slow would look like a user who stopped, and the request would not be repeated.
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
  betweenMs: "the model server stopped in the middle of its answer and did not continue",
  wholeMs: "the model server did not finish its answer",
}
