import type { Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import type { ShortenedPart } from "../../domain/model-choice.ts"
import type { PipelineState, Turn, TurnCall, TurnResult } from "../../domain/pipeline/state.ts"
import { bytesPerToken } from "../../domain/pipeline/token-usage.ts"
import { boundedView } from "../../tools/tool-result.ts"
import { beginningOf, textTokens } from "./token-estimate.ts"

/** The last results, which are shown in any case; older ones are told in a line unless they are short. */
const shownResultsMin = 10

/** How many become old at once: servers keep what they have read of a request, as long as the next one begins alike. */
const blockOfOld = 5

/** How many of so many results are not shown any more. */
export function oldResults(count: number): number {
  return Math.floor(Math.max(0, count - shownResultsMin) / blockOfOld) * blockOfOld
}

const resultTokensMax = 10_000

/** What one result may take: never so much that four of them fill the window. Null is a window nobody knows. */
export function resultTokensIn(windowTokens: number | null): number {
  return windowTokens === null ? resultTokensMax : Math.min(resultTokensMax, Math.floor(windowTokens / 4))
}

/** Every call has a result by the time a model is asked again; a transcript without one would be refused whole. */
export function shownResult({ tool, arguments: args, result }: TurnCall, tokensMax: number): string {
  if (result === null) return "there is no result"
  const text = result.text || result.outcome
  if (wholeTokens(result) <= tokensMax) return text
  return tool === "read_file" ? firstLines(text, args, tokensMax) : bothEnds(text, tool, tokensMax)
}

/** A result stays the same object, and is looked at again with every request. */
const wholeTokens = onceFor(({ text, outcome }: TurnResult) => textTokens(text || outcome))

/** What is hardly longer than the line in its place stays, such as why something failed. */
export function resultLine({ tool, result }: TurnCall): string {
  if (result === null) return "there is no result"
  const { outcome, text, digest } = result
  if (text.length <= shortMax) return text || outcome
  const kept = digest === "" ? "" : `, kept as evidence ${digest}`
  return `[${outcome}; ${text.length} characters are not shown any more${kept}: call ${tool} again to see them]`
}

const shortMax = 200

/** The beginning only, so that the next call can go on where it stops. */
function firstLines(text: string, args: Json, tokensMax: number): string {
  const gap = text.indexOf("\n[… ")
  const shown = gap === -1 ? text : text.slice(0, gap + 1)
  const tokens = Math.min(tokensMax, textTokens(shown) - 1)
  return beginningOf(shown, tokens, kept => {
    const next = fromLine(args) + kept.split("\n").length - 2
    const left = text.length - kept.length
    return `${left} more characters are left out: call read_file with from_line ${next} and a line_count to go on`
  })
}

function fromLine(args: Json): number {
  if (typeof args !== "object" || args === null || !("from_line" in args)) return 1
  return typeof args["from_line"] === "number" ? args["from_line"] : 1
}

/** What failed stands at the end, and what it was about at the beginning. */
function bothEnds(text: string, tool: string, tokensMax: number): string {
  const bytesMax = Math.max(0, tokensMax - remarkTokens) * bytesPerToken
  return `${boundedView(text, bytesMax)}\n[to see what is not shown, call ${tool} so that it gives less at a time]`
}

/** About what is said around the ends. */
const remarkTokens = 40

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
    const isKnown = turn.seq <= told.turnSeq
    // From here on results were old before.
    if (isKnown && newerToldCount >= wasShown) break
    for (const call of turn.calls.toReversed()) {
      const isOld = newerCount >= isShown
      const before = isKnown ? tokensAs(call, newerToldCount >= wasShown, wasMax) : wholeOf(call)
      const gained = before - tokensAs(call, isOld, isMax)
      if (gained > 0) parts.push(isOld ? "oldResults" : "longResults")
      tokens += Math.max(0, gained)
      newerCount++
      if (isKnown) newerToldCount++
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
