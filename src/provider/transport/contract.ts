import type { Mode } from "../../domain/model-choice.ts"
import type { ModelFailure, ModelFailureKind } from "../contract.ts"

/**
 * The only connection to one model server: requests that the mode forbids are refused here, below every protocol. It
 * follows no redirect, uses no proxy, keeps the limits and never throws.
 */
export interface Transport {
  /** The endpoint as a user would write it, without secrets. */
  readonly endpoint: string
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportReply>
}

export interface TransportRequest {
  readonly method: "GET" | "POST"
  /** The path below the endpoint, with its leading slash: `/api/chat`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly limits: TransportLimits
}

/** Limits of one request. Each is measured separately, so that a failure can name the one that was exceeded. */
export interface TransportLimits {
  readonly connectMs: number
  /** The time from the request to the first byte of the body, headers not counted. */
  readonly firstByteMs: number
  /** The time between two pieces of the body. */
  readonly betweenMs: number
  readonly wholeMs: number
}

export type TransportReply =
  | {
      readonly kind: "answered"
      readonly status: number
      /** Returns a header by its lower-case name; null when it is missing. */
      readonly header: (name: string) => string | null
      /**
       * The body as it arrives. Throws `ReplyFault` when it breaks off, stalls, is too long or was aborted. Must be
       * read to its end or returned early: both release the connection.
       */
      readonly chunks: AsyncIterable<Uint8Array>
    }
  | { readonly kind: "failed"; readonly failure: ModelFailure }

/** The address of a model server: `http://127.0.0.1:11434`, `https://api.anthropic.com`, `unix:/run/model.sock`. */
export interface Endpoint {
  readonly url: string
  /** Path of a socket; then the host in `url` is only a placeholder. */
  readonly socket: string | null
  /** True for this machine only: a socket, `localhost`, 127.0.0.0/8 or ::1. */
  readonly isLocal: boolean
}

/** Records every request that leaves this machine, before it does, and no other one. */
export interface ExternalCallLog {
  /** Returns a callback that records the outcome: HTTP status, failure kind, or both. */
  began(
    method: TransportRequest["method"],
    /** The address without a query. */
    url: string,
  ): (status: number | null, failure: ModelFailureKind | null) => void
}

/** The endpoints that a session may connect to. */
export interface Egress {
  readonly mode: Mode
  /** The configured endpoint; an airgapped session may connect to no other. */
  readonly configured: string | null
  /** The endpoint the user consented to for this session; only with `burst`. */
  readonly consented: string | null
}
