import type { Stage } from "../stage.ts"
import type { PipelineState } from "./state.ts"

/**
 * Returns how many tokens the model of a stage counts for one that acode estimates; 1 until its server has reported.
 */
export function tokenScaleOf(state: Pick<PipelineState, "tokenScales" | "settings">, stage: Stage): number {
  return state.tokenScales.get(modelOf(state, stage)) ?? 1
}

/**
 * Returns the scales after a reply to a request of this size. A short request says little, and a server that reports
 * nonsense must not starve the session.
 */
export function correctedScales(
  state: PipelineState,
  stage: Stage,
  input: number,
): PipelineState["tokenScales"] {
  const { estimatedTokens, tokenScales } = state
  if (estimatedTokens < estimateMin || input === 0) return tokenScales
  const scale = Math.min(scaleMax, Math.max(scaleMin, input / estimatedTokens))
  return new Map(tokenScales).set(modelOf(state, stage), scale)
}

const estimateMin = 200
const scaleMin = 0.7

/** A larger scale means that the report is wrong, not the estimate. */
const scaleMax = 3

/** Returns the name of a model: each one counts differently. A script, which does not count, has the empty name. */
function modelOf({ settings }: Pick<PipelineState, "settings">, stage: Stage): string {
  return settings.selection?.[stage].name ?? ""
}
