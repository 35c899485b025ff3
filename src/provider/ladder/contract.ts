import type { EditFormat, Rung } from "../../domain/model-choice.ts"
import type { ModelFailure } from "../contract.ts"

/** What was found out about a model by asking it. Kept, so that it is asked only once. */
export interface ModelProbe {
  readonly rung: Rung
  readonly editFormat: EditFormat
  /** The window that counts: what is loaded, pinned or configured, never only what is advertised. */
  readonly windowTokens: number
  /** One line for each look, for a person to read. */
  readonly notes: readonly string[]
}

export type ProbeResult =
  | {
      readonly probe: ModelProbe
      /** False when broken replies decided about a rung: it is used now, and must not be kept. */
      readonly isSure: boolean
      readonly failure?: undefined
    }
  | { readonly failure: ModelFailure; readonly probe?: undefined }
