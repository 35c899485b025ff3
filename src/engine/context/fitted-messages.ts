import type { ShortenedPart } from "../../domain/model-choice.ts"
import type { ModelMessage } from "../../provider/contract.ts"
import type { StageView } from "../stages/contract.ts"
import type { RequestSpace } from "./cut-steps.ts"
import { beginningOf, estimateTokens, missing, textTokens } from "./token-estimate.ts"
import { type Trimmed, trimMessages } from "./trimmed-messages.ts"

export interface Fitted {
  readonly messages: readonly ModelMessage[]
  readonly tokensBefore: number
  /** More than is allowed if nothing is left to shorten. */
  readonly tokens: number
  /** The shortened parts, each once, in the order in which they were shortened. */
  readonly shortened: readonly ShortenedPart[]
  readonly shortenedCount: number
}

/**
 * Returns the messages for a view, shortened to fit by leaving out what can be read again, the least missed first:
 * older results, the text of the model, long arguments, the contents of files, the outline, the diff, the newest
 * result, and project instructions last and only beyond their fair share. The request, the plan, the step and
 * failures stay. The same view and limit give the same messages: a replay compares them.
 */
export function fitMessages(
  view: StageView,
  render: (view: StageView) => readonly ModelMessage[],
  room: RequestSpace | null,
): Fitted {
  const messages = render(view)
  const tokensBefore = estimateTokens(messages)
  // With fewer tokens, old results already exceed what would have to be cut.
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
  /** The minimum share of the space that the part keeps. */
  readonly share: number
  /** Null for the newest result, which is not part of the view. */
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
    messages,
    tokens,
    tokensBefore,
    shortened: [...new Set([...shortened, ...parts])],
    shortenedCount: shortened.length + parts.length,
  }
}

/** The amount by which a view has to shrink. */
interface Shrinking {
  /** The view before anything was shortened. */
  readonly whole: StageView
  readonly excessTokens: number
  /** The minimum size that is left of the part. */
  readonly tokensMin: number
}

const fileHeadTokens = 200
const outlineTokens = 250

/** Returns a view with shorter file contents; the view itself if that saves nothing. */
function withFileHeads(view: StageView): StageView {
  const files = view.files.map(({ path, text }) => ({
    path,
    text: beginningOf(text, fileHeadTokens, missing(text, "; read_file shows them")),
  }))
  return files.some(({ text }, at) => text !== view.files[at]?.text) ? { ...view, files } : view
}

function withFileNames(view: StageView): StageView {
  if (view.files.length === 0) return view
  const text = view.files.map(({ path }) => path).join("\n")
  return { ...view, files: [{ path: "left out to fit the context; read_file shows them", text }] }
}

function withShortOutline(view: StageView): StageView {
  const outline = beginningOf(view.outline, outlineTokens, missing(view.outline, ""))
  return outline === view.outline ? view : { ...view, outline }
}

/** Shortens the diff. Files whose diff is left out are still named. */
function withShortDiff(view: StageView, { whole, excessTokens, tokensMin }: Shrinking): StageView {
  const tokens = Math.max(tokensMin, textTokens(view.diff) - excessTokens - namesTokens)
  if (tokens >= textTokens(view.diff)) return view
  const diff = beginningOf(whole.diff, tokens, kept => {
    const names = [...whole.diff.slice(kept.length).matchAll(changedFile)].map(([, name]) => name)
    const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : ""
    const named = names.length === 0 ? "" : `, with changes of ${names.slice(0, namesMax).join(", ")}${more}`
    return missing(whole.diff, named)(kept)
  })
  return { ...view, diff }
}

const changedFile = /^\+\+\+ (?:b\/)?(.{1,200})$/gm
const namesMax = 10
/** The estimated size of the names. */
const namesTokens = 80

/** Shortens instructions. Each file keeps its share of the remaining size. */
function withShortInstructions(view: StageView, shrinking: Shrinking): StageView {
  const { whole, excessTokens, tokensMin } = shrinking
  const present = view.instructions.reduce((sum, { text }) => sum + textTokens(text), 0)
  const target = Math.max(tokensMin, present - excessTokens)
  if (target >= present) return view
  const instructions = whole.instructions.map(({ path, text }) => ({
    path,
    text: beginningOf(
      text,
      Math.floor((target * textTokens(text)) / present),
      missing(text, `; read_file ${path} shows them`),
    ),
  }))
  return { ...view, instructions }
}
