import type { ShortenedPart } from "../../domain/model-choice.ts"
import type { PipelineState, TurnCall } from "../../domain/pipeline/state.ts"
import { resultLine, resultTokensIn, shownResultsMax, wholeTokens } from "./shown-result.ts"
import { textTokens } from "./token-estimate.ts"

export interface ShortResults {
  /** Once for every result. */
  readonly parts: readonly ShortenedPart[]
  /** How much longer all of them were, or would have been. */
  readonly tokens: number
}

export const nothingShort: ShortResults = { parts: [], tokens: 0 }

/**
 * Results of which the next request tells less than the last one did, or, where it is the first to tell them, less than
 * all. Found by what the log says was told, so that it is on record once, also across a crash or a change of the model.
 */
export function newlyShort({ turns, settings, told }: PipelineState): ShortResults {
  const wasMax = resultTokensIn(told.windowTokens)
  const isMax = resultTokensIn(settings.selection?.executor.windowTokens ?? null)
  const parts: ShortenedPart[] = []
  let [tokens, newerCount, newerToldCount] = [0, 0, 0]
  // From the newest on, to where results were old before: a long session is not looked through each time.
  for (let at = turns.length - 1; at >= 0 && newerToldCount < shownResultsMax; at--) {
    const turn = turns[at]
    if (turn === undefined || turn.failure !== null) continue
    const isTold = turn.seq <= told.turnSeq
    for (const call of turn.calls.toReversed()) {
      const isOld = newerCount >= shownResultsMax
      const before = isTold ? tokensAs(call, newerToldCount >= shownResultsMax, wasMax) : wholeOf(call)
      const gained = before - tokensAs(call, isOld, isMax)
      if (gained > 0) parts.push(isOld ? "oldResults" : "longResults")
      tokens += Math.max(0, gained)
      newerCount++
      if (isTold) newerToldCount++
    }
  }
  return { parts, tokens }
}

function tokensAs(call: TurnCall, isOld: boolean, tokensMax: number): number {
  return isOld ? textTokens(resultLine(call)) : Math.min(wholeOf(call), tokensMax)
}

function wholeOf({ result }: TurnCall): number {
  return result === null ? 0 : wholeTokens(result)
}
