import type { Json } from "../../../src/base/canonical.ts"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import type { ModelFailureKind, ModelItem } from "../../../src/provider/contract.ts"
import type { TransportLimits } from "../../../src/provider/transport/contract.ts"
import type { Act, FakeReply, Fault, Flavour } from "../../support/model-server/contract.ts"

/** One way in which a model server can go wrong, and what has to come of it. */
export interface FaultCase {
  readonly name: string
  readonly fault: FakeReply | Fault
  /** One of these; more than one where the reply itself leaves it open. */
  readonly wanted: readonly Outcome[]
  readonly limits?: Partial<TransportLimits>
  /** Somebody gives up: before anything is sent, once it is sent, or at the first text. */
  readonly abort?: "before" | "sent" | "text"
  /** The request is three times as long as this window of the server. */
  readonly window?: number
  /** Another kind of server than the bench has. */
  readonly flavour?: Flavour
  /** Nobody listens at the endpoint. */
  readonly isRefused?: true
}

export type Outcome = FailureOutcome | ReplyOutcome

export interface FailureOutcome {
  readonly failure: ModelFailureKind
  readonly retryable: boolean
  /** A range where it depends on the time of day. */
  readonly retryAfterMs: number | null | readonly [least: number, most: number]
}

export interface ReplyOutcome {
  readonly end: Extract<ModelItem, { kind: "end" }>["reason"]
  /** What is left out is not looked at. */
  readonly text?: string
  readonly calls?: readonly { readonly tool: string; readonly arguments: Json }[]
  /** How many calls, where the calls themselves do not matter. */
  readonly callCount?: number
  readonly usage?: { readonly input: number; readonly output: number }
  readonly hasProblems?: boolean
}

/** Under what the cases are made: one protocol, streaming or not. */
export interface Bench {
  readonly protocol: Protocol
  readonly streams: boolean
  readonly flavour: Flavour
}

const retryableKinds: readonly ModelFailureKind[] = [
  "rateLimited",
  "overloaded",
  "timeout",
  "unavailable",
  "truncated",
  "malformed",
]

export function fails(
  failure: ModelFailureKind,
  retryAfterMs: FailureOutcome["retryAfterMs"] = null,
): FailureOutcome {
  return { failure, retryable: retryableKinds.includes(failure), retryAfterMs }
}

export const malformed = fails("malformed")
export const unavailable = fails("unavailable")
export const truncated = fails("truncated")
export const timedOut = fails("timeout")

/** A connection that went away while the reply was on it. */
export const brokenOff: readonly Outcome[] = [unavailable, truncated, malformed]

export function faultOf(...acts: readonly (Act | Uint8Array)[]): Fault {
  return { acts: acts.map(act => (act instanceof Uint8Array ? { send: act } : act)) }
}
