import type { Stage } from "../stage.ts"
import type { Escalation } from "./action.ts"
import { escalate } from "./escalation.ts"
import type { PipelineState } from "./state.ts"
import { wholeUsage } from "./token-usage.ts"

/**
 * Returns when the present stage times out; null without a limit. Time in which no process drove the session does not
 * count, nor does time after the answer of the model, when acode waits for a person.
 */
export function stageDeadlineMs({ stage, turns, settings, drivenSinceMs }: PipelineState): number | null {
  if (stage === null || (turns.at(-1)?.output ?? null) !== null) return null
  const limitMs = settings.limits.stageTimeoutMs[stage.stage]
  return limitMs === null ? null : Math.max(stage.enteredAtMs, drivenSinceMs) + limitMs
}

/** Returns when the present step times out. */
export function stepDeadlineMs({ steps, settings, drivenSinceMs }: PipelineState): number | null {
  const active = steps.find(({ status }) => status === "active")
  if (active?.startedAtMs == null) return null
  return Math.max(active.startedAtMs, drivenSinceMs) + settings.limits.stepTimeoutMs
}

/** Returns when the running request or command is cancelled. */
export function deadlineMs(state: PipelineState): number | null {
  const deadlines = [stageDeadlineMs(state), stepDeadlineMs(state)].filter(each => each !== null)
  return deadlines.length === 0 ? null : Math.min(...deadlines)
}

const baseMs = 1_000
const capMs = 30_000

/** Returns the wait before the n-th extra attempt, without the jitter that the runner adds. */
export function backoffMs(failures: number): number {
  return Math.min(capMs, baseMs * 2 ** Math.max(0, failures - 1))
}

/**
 * Returns an escalation if the replies took more than the session may: nothing more is done until a person allows it.
 */
export function overspent(state: PipelineState, stage: Stage): Escalation | null {
  const { spentTokens, tokens } = state
  const tokensMax = state.settings.limits.tokensMax ?? Number.POSITIVE_INFINITY
  if (spentTokens <= tokensMax) return null
  const beyond = spentTokens - tokensMax
  // The tokens that a server does not report are estimated.
  const taken = spentTokens === tokens ? `${spentTokens}` : `about ${spentTokens}`
  return stopped(
    state,
    stage,
    `the session has taken ${taken} tokens, ${beyond} more than the ${tokensMax} allowed`,
  )
}

/** Returns an escalation if a request of this size, with an average reply, would exceed the remaining tokens. */
export function beyondBudget(state: PipelineState, stage: Stage, requestTokens: number): Escalation | null {
  const { spentTokens, usage, settings } = state
  const { tokensMax } = settings.limits
  if (tokensMax === null) return null
  const { requests, output } = wholeUsage(usage)
  const needed = requestTokens + Math.max(1, requests === 0 ? 0 : Math.ceil(output / requests))
  if (spentTokens + needed <= tokensMax) return null
  const reason = `the next request of the ${stage} would take about ${needed} tokens, and ${Math.max(0, tokensMax - spentTokens)} of the ${tokensMax} allowed are left`
  return stopped(state, stage, reason)
}

/** Returns the maximum size of the reply to a request within the remaining tokens; null without a limit. */
export function replyBudget({ spentTokens, settings }: PipelineState, requestTokens: number): number | null {
  const { tokensMax } = settings.limits
  return tokensMax === null ? null : Math.max(1, tokensMax - spentTokens - requestTokens)
}

/**
 * Stops for the budget. The stage stays open, so that every reply that was paid for is still there when more is
 * allowed.
 */
function stopped(state: PipelineState, stage: Stage, reason: string): Escalation {
  const { spentTokens, settings } = state
  const enough = 2 * Math.max(spentTokens, settings.limits.tokensMax ?? 0)
  return escalate(stage, "BudgetLimit", "needsPerson", {
    reason,
    advice: `allow more: \`acode resume --max-tokens ${enough}\``,
    status: null,
  })
}
