import type { Protocol } from "../domain/model-choice.ts"
import type { ModelFailure, Provider } from "./contract.ts"
import type { TransportLimits } from "./transport/contract.ts"

/** A server that speaks one protocol. Nothing here throws. */
export interface ModelServer {
  readonly protocol: Protocol
  readonly endpoint: string
  models(limits: TransportLimits, signal: AbortSignal): Promise<Answered<readonly ListedModel[]>>
  /** What the server itself says about a model; what it does not say is null. */
  facts(model: string, limits: TransportLimits, signal: AbortSignal): Promise<Answered<ModelFacts>>
  provider(settings: ModelSettings): Provider
}

export type Answered<Value> =
  | { readonly value: Value; readonly failure?: undefined }
  | { readonly failure: ModelFailure; readonly value?: undefined }

export interface ListedModel {
  readonly name: string
  /** Such as size and quantisation, for a person to read; may be empty. */
  readonly details: string
  readonly isLoaded: boolean | null
}

export interface ModelFacts {
  /** What the model was made for. */
  readonly trainedTokens: number | null
  /** The window it is loaded with now: what counts, where it is known. */
  readonly loadedTokens: number | null
  /** Whether the server says that it can call tools. */
  readonly declaresTools: boolean | null
  /** In thousands of millions. */
  readonly parameters: number | null
  /** Changes with the model's content, where the server tells one. */
  readonly digest: string | null
}

/** How one model is asked, fixed for a session. */
export interface ModelSettings {
  readonly model: string
  /** The window to pin where the protocol can; null leaves it to the server. */
  readonly windowTokens: number | null
  readonly outputTokensMax: number
  readonly temperature: number | null
  readonly topP: number | null
  /** How long a server keeps the model loaded, as Ollama writes it (`30m`). */
  readonly keepAlive: string
  /** False asks for the whole reply at once, for servers whose streams are broken. */
  readonly streams: boolean
  readonly limits: TransportLimits
}
