import { errnoOf } from "../../base/assert.ts"
import { oneLine } from "../../base/text.ts"
import type { ModelFailureKind } from "../contract.ts"
import { modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"
import { type Attempt, startAttempt } from "./attempt.ts"
import { connect } from "./connect.ts"
import type {
  Egress,
  Endpoint,
  ExternalCallLog,
  Transport,
  TransportReply,
  TransportRequest,
} from "./contract.ts"
import { refusal } from "./egress.ts"
import { endpointName } from "./endpoint.ts"
import { httpFailure } from "./http-failure.ts"
import { receivedChunks } from "./received-chunks.ts"
import { type Way, waysTo } from "./ways.ts"

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
