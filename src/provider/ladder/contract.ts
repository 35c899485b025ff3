import type { Rung } from "../../domain/model-choice.ts"
import type { ModelFailure } from "../contract.ts"

/**
 * The result of probing a model. It is cached, so that each model is probed once; facts that a server reports at any
 * time, such as the window, are not part of it.
 */
export interface ModelProbe {
  readonly rung: Rung
  /** One line for each test, for display. */
  readonly notes: readonly string[]
}

export type ProbeResult =
  | {
      readonly probe: ModelProbe
      /** False when broken replies decided about a rung: the result is used now and not cached. */
      readonly isSure: boolean
      readonly failure?: undefined
    }
  | { readonly failure: ModelFailure; readonly probe?: undefined }
