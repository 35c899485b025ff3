import type { ShortenedPart } from "../../domain/model-choice.ts"
import type { PipelineState, Turn, TurnCall } from "../../domain/pipeline/state.ts"
import { oldResults, resultLine, resultTokensIn, wholeTokens } from "./shown-result.ts"
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
  const isShown = shownOf(turns)
  const wasShown = shownOf(turns.filter(({ seq }) => seq <= told.turnSeq))
  const parts: ShortenedPart[] = []
  let [tokens, newerCount, newerToldCount] = [0, 0, 0]
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at]
    if (turn === undefined || turn.failure !== null) continue
    const isTold = turn.seq <= told.turnSeq
    // From here on results were old before.
    if (isTold && newerToldCount >= wasShown) break
    for (const call of turn.calls.toReversed()) {
      const isOld = newerCount >= isShown
      const before = isTold ? tokensAs(call, newerToldCount >= wasShown, wasMax) : wholeOf(call)
      const gained = before - tokensAs(call, isOld, isMax)
      if (gained > 0) parts.push(isOld ? "oldResults" : "longResults")
      tokens += Math.max(0, gained)
      newerCount++
      if (isTold) newerToldCount++
    }
  }
  return { parts, tokens }
}

/** How many results these turns show, the newest ones. */
function shownOf(turns: readonly Turn[]): number {
  let count = 0
  for (const { calls, failure } of turns) if (failure === null) count += calls.length
  return count - oldResults(count)
}

function tokensAs(call: TurnCall, isOld: boolean, tokensMax: number): number {
  return isOld ? textTokens(resultLine(call)) : Math.min(wholeOf(call), tokensMax)
}

function wholeOf({ result }: TurnCall): number {
  return result === null ? 0 : wholeTokens(result)
}
