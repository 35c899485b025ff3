import { dataOf } from "../event-definition.ts"
import { isTooLong } from "./failed-turn.ts"
import { StepRefused } from "./pipeline-events.ts"
import type { Contents, PipelineEvent } from "./recorded-event.ts"
import type { Stage } from "./stage.ts"
import type { PipelineState, Turn, TurnCall } from "./state.ts"
import { correctedScales } from "./token-scale.ts"
import { spentTokens, usedMore } from "./token-usage.ts"
import { withLeftOut } from "./told.ts"
import { ContextTrimmed, ModelRequested, TurnFinished } from "./turn-events.ts"

export function applyTurn(state: PipelineState, event: PipelineEvent, contents: Contents): PipelineState {
  const refused = dataOf(StepRefused, event)
  if (refused !== null)
    return withCall(state, refused.modelCallId, call => ({
      ...call,
      result: { outcome: "refused", certainty: "notDone", text: refused.reason, digest: refused.reason },
    }))
  const trimmed = dataOf(ContextTrimmed, event)
  if (trimmed !== null) return { ...state, told: withLeftOut(state.told, trimmed.leftOut ?? []) }
  const requested = dataOf(ModelRequested, event)
  if (requested !== null)
    return { ...state, estimatedTokens: requested.estimatedTokens, told: toldNow(state) }
  const finished = dataOf(TurnFinished, event)
  if (finished === null) return state
  const turn: Turn = {
    turn: finished.turn,
    seq: event.seq,
    atMs: Date.parse(event.at),
    text: contents.text(finished.text),
    calls: finished.calls.map(({ id, tool, arguments: args, argsDigest }) => ({
      ...{ id, tool, argsDigest },
      arguments: contents.json(args),
      result: null,
    })),
    output: finished.output === null ? null : contents.json(finished.output),
    problems: finished.problems,
    isCutOff: finished.isCutOff === true,
    failure: finished.failure,
  }
  const { input, output } = finished.usage
  return {
    ...state,
    turns: [...state.turns, turn],
    replyCount: state.replyCount + (finished.replyIndex === null ? 0 : 1),
    tokens: state.tokens + input + output,
    spentTokens: state.spentTokens + spentTokens(finished.usage, state.estimatedTokens, turn),
    usage: usedMore(state.usage, finished.stage, finished.usage),
    tokenScales: correctedScales(state, finished.stage, input),
    tooLong: canBeShorter(finished.failure) ? shorter(state, finished.stage) : state.tooLong,
    cutOff: turn.isCutOff ? onceMore(state, finished.stage) : state.cutOff,
  }
}

function toldNow({ turns, settings, told }: PipelineState): PipelineState["told"] {
  return {
    ...told,
    turnSeq: turns.at(-1)?.seq ?? 0,
    windowTokens: settings.selection?.executor.windowTokens ?? null,
  }
}

function canBeShorter(failure: Turn["failure"]): boolean {
  return failure !== null && isTooLong(failure.kind) && failure.retryable
}

/** A server that finds a request too long would find the next one so too. */
function shorter({ tooLong, estimatedTokens }: PipelineState, stage: Stage): PipelineState["tooLong"] {
  const known = tooLong[stage] ?? Number.POSITIVE_INFINITY
  return { ...tooLong, [stage]: Math.min(known, estimatedTokens) }
}

function onceMore({ cutOff }: PipelineState, stage: Stage): PipelineState["cutOff"] {
  return { ...cutOff, [stage]: (cutOff[stage] ?? 0) + 1 }
}

/**
 * Calls are found by the id the model gave them, newest turn first: some models count from 1 in every turn, and some
 * give two calls of one turn the same id, of which the first without a result is meant.
 */
export function withCall(
  state: PipelineState,
  modelCallId: string,
  change: (call: TurnCall) => TurnCall,
): PipelineState {
  const isMeant = ({ id, result }: TurnCall) => id === modelCallId && result === null
  const turnAt = state.turns.findLastIndex(({ calls }) => calls.some(isMeant))
  const turn = state.turns[turnAt]
  const callAt = turn?.calls.findIndex(isMeant) ?? -1
  const call = turn?.calls[callAt]
  if (turn === undefined || call === undefined) return state
  const changed = { ...turn, calls: turn.calls.with(callAt, change(call)) }
  return { ...state, turns: state.turns.with(turnAt, changed) }
}
