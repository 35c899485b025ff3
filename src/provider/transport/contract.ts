import type { Mode } from "../../domain/model-choice.ts"
import type { ModelFailure, ModelFailureKind } from "../contract.ts"

/**
 * The way to one model server, and the only one: what the mode forbids is refused here, below every protocol. It
 * follows no redirect, uses no proxy, keeps the limits and never throws.
 */
export interface Transport {
  /** As a person would name it, without what is secret. */
  readonly endpoint: string
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportReply>
}

export interface TransportRequest {
  readonly method: "GET" | "POST"
  /** Below the endpoint, with its leading slash: `/api/chat`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly limits: TransportLimits
}

/** Each is measured by itself, so that a failure can say which of them it was. */
export interface TransportLimits {
  readonly connectMs: number
  /** From the request to the first byte of what the server has to say, headers not counted. */
  readonly firstByteMs: number
  /** Between two pieces of it. */
  readonly betweenMs: number
  readonly wholeMs: number
}

export type TransportReply =
  | {
      readonly kind: "answered"
      readonly status: number
      /** By lower-case name; null when there is none. */
      readonly header: (name: string) => string | null
      /**
       * What the server says, as it comes. Throws `ReplyFault` when it breaks off, stalls, is too long or was aborted.
       * Has to be read to its end or returned early: both end the connection's work.
       */
      readonly chunks: AsyncIterable<Uint8Array>
    }
  | { readonly kind: "failed"; readonly failure: ModelFailure }

/** Where a model server is: `http://127.0.0.1:11434`, `https://api.anthropic.com`, `unix:/run/model.sock`. */
export interface Endpoint {
  readonly url: string
  /** Path of a socket; then the host in `url` is only a name. */
  readonly socket: string | null
  /** This machine and nobody else: a socket, `localhost`, 127.0.0.0/8 or ::1. */
  readonly isLocal: boolean
}

/** Is told of every request that leaves this machine, before it does, and of no other one. */
export interface ExternalCallLog {
  /** Gives what is to be told what came of it: the status of an answer, the kind of a failure, or both. */
  began(
    method: TransportRequest["method"],
    /** Without a query. */
    url: string,
  ): (status: number | null, failure: ModelFailureKind | null) => void
}

/** What may be talked to in this session. */
export interface Egress {
  readonly mode: Mode
  /** The one endpoint that is configured; an airgapped session may talk to no other one. */
  readonly configured: string | null
  /** The endpoint a person consented to for this session; only with `burst`. */
  readonly consented: string | null
}
