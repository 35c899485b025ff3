import type { Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import type { ShortenedPart } from "../../domain/model-choice.ts"
import type { PipelineState, Turn, TurnCall, TurnResult } from "../../domain/pipeline/state.ts"
import { bytesPerToken } from "../../domain/pipeline/token-usage.ts"
import { boundedView } from "../../tools/tool-result.ts"
import { beginningOf, textTokens } from "./token-estimate.ts"

/** The last results, which are always shown; older ones are replaced by a line unless they are short. */
const shownResultsMin = 10

/** The number of results that become old at once: servers cache a request as long as the next one begins the same. */
const blockOfOld = 5

/** Returns how many of the results are not shown any more. */
export function oldResults(count: number): number {
  return Math.floor(Math.max(0, count - shownResultsMin) / blockOfOld) * blockOfOld
}

const resultTokensMax = 10_000

/** Returns the maximum size of one result: four of them never fill the window. Null is an unknown window. */
export function resultTokensIn(windowTokens: number | null): number {
  return windowTokens === null ? resultTokensMax : Math.min(resultTokensMax, Math.floor(windowTokens / 4))
}

/** Returns a result as the model sees it. Every call must have one: a server rejects a transcript without it. */
export function shownResult({ tool, arguments: args, result }: TurnCall, tokensMax: number): string {
  if (result === null) return "no result"
  const text = result.text || result.outcome
  if (wholeTokens(result) <= tokensMax) return text
  return tool === "read_file" ? firstLines(text, args, tokensMax) : bothEnds(text, tool, tokensMax)
}

/** A result stays the same object, and is measured again with every request. */
const wholeTokens = onceFor(({ text, outcome }: TurnResult) => textTokens(text || outcome))

/** Returns the line in the place of an old result. A result that is hardly longer, such as a failure, stays. */
export function resultLine({ tool, result }: TurnCall): string {
  if (result === null) return "no result"
  const { outcome, text, digest } = result
  if (text.length <= shortMax) return text || outcome
  const kept = digest === "" ? "" : `, kept as evidence ${digest}`
  return `[${outcome}; ${text.length} characters are not shown any more${kept}: call ${tool} again to see them]`
}

const shortMax = 200

/** Returns only the first lines, so that the next call can continue after them. */
function firstLines(text: string, args: Json, tokensMax: number): string {
  const gap = text.indexOf("\n[… ")
  const shown = gap === -1 ? text : text.slice(0, gap + 1)
  const tokens = Math.min(tokensMax, textTokens(shown) - 1)
  return beginningOf(shown, tokens, kept => {
    const next = fromLine(args) + kept.split("\n").length - 2
    const left = text.length - kept.length
    return `${left} more characters are left out: call read_file with from_line ${next} and a line_count to continue`
  })
}

function fromLine(args: Json): number {
  if (typeof args !== "object" || args === null || !("from_line" in args)) return 1
  return typeof args["from_line"] === "number" ? args["from_line"] : 1
}

/** Returns the beginning, which shows what the result is about, and the end, which shows failures. */
function bothEnds(text: string, tool: string, tokensMax: number): string {
  const bytesMax = Math.max(0, tokensMax - remarkTokens) * bytesPerToken
  return `${boundedView(text, bytesMax)}\n[to see what is not shown, call ${tool} so that it gives less at a time]`
}

/** The estimated size of the remarks around the ends. */
const remarkTokens = 40

export interface ShortResults {
  /** One entry for every result. */
  readonly parts: readonly ShortenedPart[]
  /** The number of tokens by which all of them were shortened, or would have been. */
  readonly tokens: number
}

export const nothingShort: ShortResults = { parts: [], tokens: 0 }

/**
 * Returns the results of which the next request shows less than the last one did, or, if it is the first to show
 * them, less than all. Derived from the log, so that each is recorded once, also across a crash or a change of the
 * model.
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

/** Returns how many results these turns show, the newest ones. */
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
