import type { Json } from "../base/canonical.ts"
import type { Stage } from "../domain/stage.ts"

/** A model API. It streams, never throws, and tells every way to fail as an item. */
export interface Provider {
  readonly name: string
  /** Ends with exactly one `end` or one `failure`. Aborting ends it with a failure of kind `aborted`. */
  ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelItem>
}

export interface ModelRequest {
  /** Who asks; a script and a recording are kept by it. */
  readonly stage: Stage | "agent"
  /** How many replies the session has recorded: the place of this one in a script, never a counter in memory. */
  readonly replyIndex: number
  readonly model: string | null
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolDescription[]
  /** The shape of the answer where it is to be JSON. */
  readonly format: { readonly name: string; readonly schema: Json } | null
  /** How long the reply may be, where it is not as long as the model's settings say. */
  readonly outputTokensMax: number | null
}

/** A valid transcript: after the calls of an assistant come exactly their results, in their order. */
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
  /** Something in the reply cannot be used; the model is told so when it is asked again. */
  | { readonly kind: "problem"; readonly text: string }
  | { readonly kind: "end"; readonly reason: "stop" | "calls" | "length" | "refused" }
  | { readonly kind: "failure"; readonly failure: ModelFailure }

/** A whole reply, or as much of it as came before it failed; then it has no calls. */
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
  /** Whether asking again may help. */
  readonly retryable: boolean
  readonly retryAfterMs: number | null
  /** Only of `unavailable`: no connection could be made or kept, while a server that says so has answered. */
  readonly isConnection?: true | undefined
}
