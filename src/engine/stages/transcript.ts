import { finishTool } from "../../domain/pipeline/claim.ts"
import type { PipelineState, Turn, TurnCall } from "../../domain/pipeline/state.ts"
import { withoutThinking } from "../../domain/text/thinking.ts"
import type { ModelMessage } from "../../provider/contract.ts"
import { oldResults, resultLine, resultTokensIn, shownResult } from "../context/shown-result.ts"
import type { OlderResults } from "./contract.ts"
import { type EditTools, fallbackRemark } from "./edit-tools.ts"

/**
 * Returns the messages of turns. After the calls of a turn come exactly their results, in their order. Turns without
 * an answer are left out.
 */
export function transcript(
  state: PipelineState,
  { edits, remarks }: TranscriptParts,
  olderResults: OlderResults,
): readonly ModelMessage[] {
  const answered = state.turns.filter(({ failure }) => failure === null)
  const resultCount = answered.reduce((sum, { calls }) => sum + calls.length, 0)
  const tokensMax = resultTokensIn(state.settings.selection?.executor.windowTokens ?? null)
  const remarked = edits?.remarked(state.turns) ?? null
  let older = { someOld: oldResults(resultCount), allNew: 0, allOld: resultCount - 1 }[olderResults]
  return answered.flatMap(turn => {
    const olderCount = Math.min(turn.calls.length, Math.max(0, older))
    older -= turn.calls.length
    return rememberedTurn(turn, { olderCount, tokensMax, remarked, remarks })
  })
}

export interface TranscriptParts {
  /** Null for a stage that edits nothing. */
  readonly edits: EditTools | null
  /** Returns what the model must know about its own answer, so that the next one is better. */
  readonly remarks: (turn: Turn) => readonly ModelMessage[]
}

/** The form in which a turn is shown. */
interface Telling {
  /** The number of its results that are not shown any more. */
  readonly olderCount: number
  /** The maximum size of each result that is shown. */
  readonly tokensMax: number
  readonly remarked: TurnCall | null
  readonly remarks: TranscriptParts["remarks"]
}

/**
 * Caches the messages of turns. A turn stays the same object in every later request: its messages stay the same
 * objects as well, so that they are measured and serialized only once.
 */
const remembered = new WeakMap<Turn, Map<number, Remembered>>()

type Remembered = Telling & { readonly messages: readonly ModelMessage[] }

function rememberedTurn(turn: Turn, telling: Telling): readonly ModelMessage[] {
  // A request that has to fit is built in more than one form, and so is the next one.
  const tellings = remembered.get(turn) ?? new Map<number, Remembered>()
  const known = tellings.get(telling.olderCount)
  if (known?.tokensMax === telling.tokensMax && known.remarked === telling.remarked) return known.messages
  const messages = toldTurn(turn, telling)
  remembered.set(turn, tellings.set(telling.olderCount, { ...telling, messages }))
  return messages
}

function toldTurn(
  turn: Turn,
  { olderCount, tokensMax, remarked, remarks }: Telling,
): readonly ModelMessage[] {
  const { text, calls } = turn
  return [
    {
      role: "assistant",
      // Thinking would be repeated in every request, and is not part of the answer.
      text: withoutThinking(text).trimStart(),
      calls: calls.map(({ id, tool, arguments: args }) => ({ id, tool, arguments: args })),
    },
    ...calls.map((call, index): ModelMessage => {
      const shown = index < olderCount ? resultLine(call) : shownResult(call, tokensMax)
      return { role: "tool", callId: call.id, text: call === remarked ? shown + fallbackRemark : shown }
    }),
    ...remarks(turn),
  ]
}

/** Returns the remarks about an answer in a step: parts that could not be used, and that nothing was called. */
export function stepRemarks({ calls, problems }: Turn): readonly ModelMessage[] {
  if (calls.length > 0 && problems.length === 0) return []
  const listed = problems.map(problem => `- ${problem}`).join("\n")
  const wrong = problems.length === 0 ? [] : [`Something in that answer could not be used:\n${listed}`]
  const next = calls.length === 0 ? [noCalls] : []
  return [{ role: "user", text: [...wrong, ...next].join("\n") }]
}

const noCalls = `Nothing was called. Call a tool to continue, or ${finishTool} when the step is done.`
