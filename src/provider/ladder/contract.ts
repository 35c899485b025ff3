import type { Rung } from "../../domain/model-choice.ts"
import type { ModelFailure } from "../contract.ts"

/**
 * What was found out about a model by asking it. Kept, so that it is asked only once: what follows from what a server
 * tells at any time, such as the window, is no part of it.
 */
export interface ModelProbe {
  readonly rung: Rung
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
