import type { ShortenedPart } from "../../domain/model-choice.ts"
import type { ModelMessage } from "../../provider/contract.ts"
import type { StageView } from "./contract.ts"
import type { Room } from "./cut-steps.ts"
import {
  type Shrinking,
  withFileHeads,
  withFileNames,
  withShortDiff,
  withShortInstructions,
  withShortOutline,
} from "./shortened-view.ts"
import { estimateTokens } from "./token-estimate.ts"
import { type Trimmed, trimMessages } from "./trimmed-messages.ts"

export interface Fitted {
  readonly messages: readonly ModelMessage[]
  readonly tokensBefore: number
  /** More than is allowed when nothing is left to shorten. */
  readonly tokens: number
  /** What was shortened, each part once, in the order it was. */
  readonly shortened: readonly ShortenedPart[]
  readonly shortenedCount: number
}

/**
 * The messages for a view, made to fit by leaving out what can be looked up again, the least missed first: older
 * results, what the model said, long arguments, the contents of files, the outline, the diff, the newest result, and
 * project instructions last and only beyond their fair share. The request, the plan, the step and what failed stay.
 * The same view and limit give the same messages: a replay compares them.
 */
export function fitMessages(
  view: StageView,
  render: (view: StageView) => readonly ModelMessage[],
  room: Room | null,
): Fitted {
  const messages = render(view)
  const tokensBefore = estimateTokens(messages)
  // With less than that, what is old by now is more than what would have to go.
  if (room === null || tokensBefore <= room.tokens - room.stepTokens)
    return { messages, tokensBefore, tokens: tokensBefore, shortened: [], shortenedCount: 0 }
  const transcripts = (of: StageView) => ({
    someOld: render(of),
    allNew: render({ ...of, olderResults: "allNew" }),
    allOld: render({ ...of, olderResults: "allOld" }),
  })
  let present = view
  let newestTokensMin: number | null = null
  let trimmed = trimMessages(transcripts(view), room, newestTokensMin)
  const parts: ShortenedPart[] = []
  for (const { part, share, shorten } of passes) {
    if (trimmed.tokens <= room.tokens) break
    const shrinking = {
      whole: view,
      excessTokens: trimmed.tokens - room.tokens,
      tokensMin: Math.floor(room.tokens * share),
    }
    const next: StageView = shorten === null ? present : shorten(present, shrinking)
    if (shorten === null) newestTokensMin = shrinking.tokensMin
    else if (next === present) continue
    else parts.push(part)
    present = next
    trimmed = trimMessages(transcripts(present), room, newestTokensMin)
  }
  return fitted(trimmed, tokensBefore, parts)
}

interface Pass {
  readonly part: ShortenedPart
  /** The part of the room that it keeps at least. */
  readonly share: number
  /** Null for the newest result, which is no part of the view. */
  readonly shorten: ((view: StageView, shrinking: Shrinking) => StageView) | null
}

const passes: readonly Pass[] = [
  { part: "files", share: 0, shorten: withFileHeads },
  { part: "files", share: 0, shorten: withFileNames },
  { part: "outline", share: 0, shorten: withShortOutline },
  { part: "diff", share: 1 / 4, shorten: withShortDiff },
  { part: "newestResult", share: 1 / 8, shorten: null },
  { part: "instructions", share: 1 / 4, shorten: withShortInstructions },
  { part: "diff", share: 0, shorten: withShortDiff },
  { part: "newestResult", share: 0, shorten: null },
]

function fitted(
  { messages, tokens, shortened }: Trimmed,
  tokensBefore: number,
  parts: readonly ShortenedPart[],
) {
  return {
    ...{ messages, tokens, tokensBefore },
    shortened: [...new Set([...shortened, ...parts])],
    shortenedCount: shortened.length + parts.length,
  }
}
