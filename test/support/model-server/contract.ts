import type { Json } from "../../../src/base/canonical.ts"
import type { Protocol } from "../../../src/domain/model-choice.ts"

/** The reply of a model, before it is encoded for a protocol. */
export interface FakeReply {
  readonly text: string
  readonly calls: readonly FakeCall[]
  /** Null leaves it out; `counted` is what the server makes of the request and of this reply. */
  readonly usage: FakeUsage | "counted" | null
  /**
   * The reason for the end, independent of a protocol: `refused` becomes its own word; an unknown one is sent as it is.
   */
  readonly end: FakeEnd
  /** The delay before the first byte of it. */
  readonly delayMs?: number
}

export interface FakeUsage {
  readonly input: number
  readonly output: number
}

export type FakeEnd = "stop" | "calls" | "length" | "refused" | { readonly unknown: string }

export interface FakeCall {
  /** Null leaves it to the encoder where the protocol has ids. */
  readonly id: string | null
  readonly tool: string
  readonly arguments: Json
}

/** Bytes and silences, exactly as they go over the wire, instead of a reply. */
export interface Fault {
  readonly acts: readonly Act[]
}

export type Act =
  | { readonly send: Uint8Array }
  /** Nothing for this long. */
  | { readonly waitMs: number }
  /** Ends it properly; what the headers announced may still be missing. */
  | { readonly close: true }
  /** Ends it with a reset. */
  | { readonly reset: true }
  /** Nothing more, until the other side or the server goes. */
  | { readonly hang: true }

/** Servers that speak the protocol of OpenAI and differ in what else they can be asked. */
export type Flavour = "llamacpp" | "lmstudio" | "vllm" | "plain"

export interface FakeModel {
  readonly name: string
  readonly trainedTokens: number
  /** Null: it is not loaded. */
  readonly loadedTokens: number | null
  readonly parameters: string
  readonly tools: boolean
}

export interface Received {
  readonly method: string
  readonly path: string
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed; null where there is none. */
  readonly body: Json
  readonly protocol: Protocol
  /** True when this server supports the tools of a request, and its schema. */
  readonly callsTools: boolean
  readonly followsSchemas: boolean
}

export interface ModelServerOptions {
  readonly protocol: Protocol
  readonly flavour?: Flavour
  /** The models of the server; a request for another one is refused. Without a list every name is accepted. */
  readonly models?: readonly FakeModel[]
  /** Answers a chat request; `index` counts them from 0. The server answers all other requests itself. */
  readonly answer: (received: Received, index: number) => FakeReply | Fault
  /**
   * False: tools in the request are ignored, and calls are written as the `constrained` rung's JSON when the request
   * has a schema and as the `text` rung's block when it has none.
   */
  readonly native?: boolean
  /** False: a schema in the request is ignored as well. */
  readonly schemas?: boolean
  /** Tokens. A request that is estimated above it fails as this server would. */
  readonly window?: number
  /** Without this key everything is 401. */
  readonly key?: string
}

export interface FakeServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string
  /** All of them in the order they came, also those that are no chat. */
  readonly requests: readonly Received[]
  /** The requests that ask the model. */
  readonly chats: readonly Received[]
  /** The number of open connections, and of all so far. */
  readonly connections: { readonly open: number; readonly all: number }
}
