import { type LeftOut, newlyLeftOut } from "../../domain/pipeline/left-out.ts"
import { replyBudget } from "../../domain/pipeline/limits.ts"
import type { PipelineState } from "../../domain/pipeline/state.ts"
import { tokenScaleOf } from "../../domain/pipeline/token-scale.ts"
import { replyTokensMax, requestTokensMax } from "../../domain/pipeline-settings.ts"
import type { Stage } from "../../domain/stage.ts"
import type { ModelMessage, ModelRequest } from "../../provider/contract.ts"
import type { AgentParts } from "../agent-parts.ts"
import type { StageView } from "../stages/contract.ts"
import { roomOf } from "./cut-steps.ts"
import { type Fitted, fitMessages } from "./fitted-messages.ts"
import { newlyShort, nothingShort } from "./shown-result.ts"
import { messageTokens, offerTokens, textTokens } from "./token-estimate.ts"

export interface FittedRequest {
  readonly request: ModelRequest
  readonly shortened: Fitted["shortened"]
  readonly shortenedCount: number
  /** The parts that reading left out and that are not recorded yet. */
  readonly leftOut: readonly LeftOut[]
  /** The size by acode's own estimate. */
  readonly estimatedTokens: number
  /** The size as the server is expected to count it. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly tokensMax: number | null
  /** The reason why the request cannot be made; null if it fits. */
  readonly problem: string | null
}

/** Returns the next request of a stage, made to fit the model: its messages, tools and format together. */
export function modelRequest(
  { session, stages, redactor }: Pick<AgentParts, "session" | "stages" | "redactor">,
  stage: Stage,
  view: StageView,
): FittedRequest {
  const definition = stages[stage]
  const { settings, tooLong: foundTooLong, cutOff, replyCount } = session.state
  const tokenScale = tokenScaleOf(session.state, stage)
  const offer = {
    tools: definition.offered(view),
    format: definition.format(view),
  }
  /** No secret leaves for a model, whichever part of the request contains it. */
  const redact = (message: ModelMessage): ModelMessage => {
    const text = redactor.redactText(message.text)
    return text === message.text ? message : { ...message, text }
  }
  const isCalling = offer.tools.length > 0 && settings.selection?.[stage].rung !== "constrained"
  const fixed = offerTokens(isCalling ? { tools: offer.tools, format: null } : offer)
  const refused = foundTooLong[stage] ?? null
  const allowed = requestTokensMax(settings, stage, cutOff[stage])
  const tokensMax = fittingTokens(allowed, refused, tokenScale)
  const roomIn = (max: number) => Math.floor(max / tokenScale) - fixed
  const { messages, tokens, tokensBefore, shortened, shortenedCount } = fitMessages(
    view,
    of => definition.messages(of).map(redact),
    tokensMax === null ? null : roomOf(roomIn(tokensMax), tokensMax),
  )
  // Only a stage with tools sees their results.
  const missing = newlyMissing(session.state, view, definition.tools.length > 0)
  const isAllowed = allowed === null || tokens <= roomIn(allowed)
  // The request may be longer than its goal, but not as long as the one that its server rejected.
  const isShorter = refused === null || fixed + tokens < refused
  const counted = (estimated: number) => Math.ceil((fixed + estimated) * tokenScale)
  const { selection } = settings
  const model = selection?.[stage].name ?? settings.model
  const longest = selection === null ? null : replyTokensMax(selection, stage, cutOff[stage])
  const left = replyBudget(session.state, counted(tokens))
  const outputTokensMax = longest === null || left === null ? longest : Math.min(longest, left)
  return {
    request: { stage, replyIndex: replyCount, model, messages, ...offer, outputTokensMax },
    shortened: [...new Set([...missing.parts, ...shortened])],
    shortenedCount: missing.parts.length + shortenedCount,
    leftOut: missing.leftOut,
    tokensMax,
    estimatedTokens: fixed + tokens,
    tokensBefore: counted(tokensBefore + missing.tokens),
    tokensAfter: counted(tokens),
    problem:
      tokensMax === null || (isAllowed && isShorter)
        ? null
        : tooLong(messages, counted(tokens), Math.ceil(fixed * tokenScale), tokensMax),
  }
}

/**
 * Returns what this request does not show, however much space there is, and the earlier ones showed or did not need
 * to.
 */
function newlyMissing(state: PipelineState, view: StageView, tellsResults: boolean) {
  const { parts, tokens } = tellsResults ? newlyShort(state) : nothingShort
  const leftOut = newlyLeftOut(state.told, view.leftOut)
  return {
    leftOut,
    parts: [...parts, ...leftOut.map(({ part }) => part)],
    tokens: leftOut.reduce((sum, each) => sum + each.tokens, tokens),
  }
}

/**
 * Returns the allowed size, or less if a server has rejected an allowed request as too long; in tokens of the server.
 */
function fittingTokens(allowed: number | null, refused: number | null, tokenScale: number): number | null {
  if (refused === null) return allowed
  const learned = Math.floor(refused * tokenScale * shorterBy)
  return allowed === null ? learned : Math.min(allowed, learned)
}

/** The share of a rejected request that is tried next. */
const shorterBy = 2 / 3

function tooLong(
  messages: readonly ModelMessage[],
  needed: number,
  offer: number,
  tokensMax: number,
): string {
  const [system, prompt, ...turns] = messages
  const size = (text = "") => textTokens(text)
  const parts = [
    `tools and answer format ${offer}`,
    `rules ${size(system?.text)}`,
    `what is to be done and known ${size(prompt?.text)}`,
    `the turns so far ${turns.reduce((sum, message) => sum + messageTokens(message), 0)}`,
  ]
  return `the request needs about ${needed} tokens even after shortening, but ${tokensMax} are allowed: ${parts.join(", ")}`
}
