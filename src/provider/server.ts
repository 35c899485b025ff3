import type { Protocol } from "../domain/model-choice.ts"
import type { ModelFailure, Provider } from "./contract.ts"
import type { TransportLimits } from "./transport/contract.ts"

/** A server that speaks one protocol. Its methods never throw. */
export interface ModelServer {
  readonly protocol: Protocol
  readonly endpoint: string
  models(limits: TransportLimits, signal: AbortSignal): Promise<Answered<readonly ListedModel[]>>
  /** Returns what the server reports about a model; null for what it does not report. */
  facts(model: string, limits: TransportLimits, signal: AbortSignal): Promise<Answered<ModelFacts>>
  provider(settings: ModelSettings): Provider
}

export type Answered<Value> =
  | { readonly value: Value; readonly failure?: undefined }
  | { readonly failure: ModelFailure; readonly value?: undefined }

export interface ListedModel {
  readonly name: string
  /** Details such as size and quantisation, for display; may be empty. */
  readonly details: string
  readonly isLoaded: boolean | null
}

export interface ModelFacts {
  /** The window that the model was trained for. */
  readonly trainedTokens: number | null
  /** The window that the model is loaded with now, which counts where it is known. */
  readonly loadedTokens: number | null
  /** True when the server declares that the model can call tools; null when it does not report that. */
  readonly declaresTools: boolean | null
  /** Billions of parameters. */
  readonly parameters: number | null
  /** Changes with the model's content; null where the server has none. */
  readonly digest: string | null
}

/** The settings of one model, fixed for a session. */
export interface ModelSettings {
  readonly model: string
  /** The window to request where the protocol can; null leaves it to the server. */
  readonly windowTokens: number | null
  readonly outputTokensMax: number
  readonly temperature: number | null
  readonly topP: number | null
  /** The time that a server keeps the model loaded, as Ollama writes it (`30m`). */
  readonly keepAlive: string
  /** False requests the whole reply at once, for servers whose streams are broken. */
  readonly streams: boolean
  readonly limits: TransportLimits
}
