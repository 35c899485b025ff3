import { shellQuoted } from "../../base/text.ts"
import { longestReply, type ModelSelection, replyTokensMax, requestTokensMax } from "./settings.ts"
import type { Stage } from "./stage.ts"
import type { PipelineState } from "./state.ts"

/** What a person can do about a model that refuses. */
export const otherWords =
  "ask for it in other words, or of another model (`acode models list`) with `acode resume` and --model; `acode config mode` says what may be talked to"

/** What a person allowed is raised by a flag. The window is recorded, and grows only with another choice. */
export function moreContext({ settings, cutOff }: PipelineState, stage: Stage): string {
  const { selection, limits } = settings
  const allowed = requestTokensMax(settings, stage, cutOff[stage])
  if (selection === null || allowed === limits.contextTokensMax)
    return `allow more: \`acode resume --max-context-tokens ${2 * (limits.contextTokensMax ?? 8_192)}\``
  return `${largerWindow(selection, stage)}, then ${againWith(selection, stage)}`
}

/** Null where the last answer was not cut off, or nobody knows at how much. */
export function longerReplies({ settings, turns, cutOff }: PipelineState, stage: Stage): string | null {
  const { selection } = settings
  if (selection === null || turns.at(-1)?.isCutOff !== true) return null
  const allowed = replyTokensMax(selection, stage, Math.max(0, (cutOff[stage] ?? 0) - 1))
  const longest = longestReply(selection[stage].windowTokens)
  const more =
    allowed < longest
      ? `allow it up to ${longest}: \`acode config set model.parameters.max_tokens ${longest}\``
      : `that is half of its window: ${largerWindow(selection, stage)}`
  return `its answers are longer than ${allowed} tokens, what it thinks included; ${more}, then ${againWith(selection, stage)}`
}

/** How a model is asked was found out once, and the server may have been started otherwise since. */
export function askedOtherwise({ settings: { selection } }: PipelineState, stage: Stage): string {
  if (selection === null) return "see what is refused, then `acode resume`"
  const model = modelOf(selection, stage)
  return `if the server or its model has changed, try it out again: \`acode models probe ${model}\`, then \`acode resume --model ${model}\`; or name another model there`
}

function largerWindow(selection: ModelSelection, stage: Stage): string {
  const pinned = `\`acode config set model.parameters.context_window ${2 * selection[stage].windowTokens}\``
  return selection.protocol === "ollama"
    ? `give the model a larger window: ${pinned}`
    : `let the server load the model with a larger window (${pinned}, where it does not tell it)`
}

function againWith(selection: ModelSelection, stage: Stage): string {
  return `\`acode resume --model ${modelOf(selection, stage)}\``
}

function modelOf(selection: ModelSelection, stage: Stage): string {
  return shellQuoted(`${selection.protocol}/${selection[stage].name}`)
}
