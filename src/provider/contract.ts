import type { Json } from "../base/canonical.ts"
import type { Stage } from "../domain/stage.ts"

/** A model API. It streams, never throws, and reports every failure as an item. */
export interface Provider {
  readonly name: string
  /**
   * Streams the reply, which ends with exactly one `end` or one `failure`. Aborting ends it with a failure of kind
   * `aborted`.
   */
  ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelItem>
}

export interface ModelRequest {
  /** The stage that makes the request; scripts and recordings check it. */
  readonly stage: Stage | "agent"
  /**
   * The number of replies that the session has recorded: the index of this one in a script, never a counter in memory.
   */
  readonly replyIndex: number
  readonly model: string | null
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolDescription[]
  /** The shape of an answer that is to be JSON; null for text. */
  readonly format: { readonly name: string; readonly schema: Json } | null
  /** The limit of the reply, where it differs from the model's settings. */
  readonly outputTokensMax: number | null
}

/** A valid transcript: the calls of an assistant are followed by exactly their results, in order. */
export type ModelMessage =
  | { readonly role: "system" | "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: "tool"; readonly callId: string; readonly text: string }

export interface ModelCall {
  readonly id: string
  readonly tool: string
  readonly arguments: Json
}

export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly parameters: Json
}

/** One piece of a reply. */
export type ModelItem =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly call: ModelCall }
  | { readonly kind: "usage"; readonly input: number; readonly output: number }
  /** Something in the reply cannot be used; the next request reports it to the model. */
  | { readonly kind: "problem"; readonly text: string }
  | { readonly kind: "end"; readonly reason: "stop" | "calls" | "length" | "refused" }
  | { readonly kind: "failure"; readonly failure: ModelFailure }

/** A whole reply, or the part of it that arrived before a failure; then it has no calls. */
export interface ModelReply {
  readonly text: string
  readonly calls: readonly ModelCall[]
  readonly problems: readonly string[]
  readonly usage: { readonly input: number; readonly output: number }
  readonly failure: ModelFailure | null
  /** Null when it failed. */
  readonly end: Extract<ModelItem, { kind: "end" }>["reason"] | null
}

export const modelFailureKinds = [
  "rateLimited",
  "overloaded",
  "timeout",
  "unavailable",
  "auth",
  "badRequest",
  "notFound",
  "contextTooLong",
  "refused",
  "truncated",
  "malformed",
  "script",
  "aborted",
] as const
export type ModelFailureKind = (typeof modelFailureKinds)[number]

export interface ModelFailure {
  readonly kind: ModelFailureKind
  readonly message: string
  /** True when repeating the request may help. */
  readonly retryable: boolean
  readonly retryAfterMs: number | null
  /**
   * Set only for `unavailable`: the connection failed or broke, while an `unavailable` server without it has answered.
   */
  readonly isConnection?: true | undefined
}
