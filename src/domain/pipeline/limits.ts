import type { Stage } from "../stage.ts"
import type { Escalation } from "./action.ts"
import { escalate } from "./escalation.ts"
import type { PipelineState } from "./state.ts"
import { wholeUsage } from "./token-usage.ts"

/**
 * When the present stage has to be over; null when nothing bounds it. Time in which nobody drove does not count, nor
 * does any after the model's answer is there: what is waited for then is a person.
 */
export function stageDeadlineMs({ stage, turns, settings, drivenSinceMs }: PipelineState): number | null {
  if (stage === null || (turns.at(-1)?.output ?? null) !== null) return null
  const limitMs = settings.limits.stageTimeoutMs[stage.stage]
  return limitMs === null ? null : Math.max(stage.enteredAtMs, drivenSinceMs) + limitMs
}

/** When the present step has to be over. */
export function stepDeadlineMs({ steps, settings, drivenSinceMs }: PipelineState): number | null {
  const active = steps.find(({ status }) => status === "active")
  if (active?.startedAtMs == null) return null
  return Math.max(active.startedAtMs, drivenSinceMs) + settings.limits.stepTimeoutMs
}

/** What is being done now is cancelled then. */
export function deadlineMs(state: PipelineState): number | null {
  const deadlines = [stageDeadlineMs(state), stepDeadlineMs(state)].filter(each => each !== null)
  return deadlines.length === 0 ? null : Math.min(...deadlines)
}

const baseMs = 1_000
const capMs = 30_000

/** The wait before the n-th extra attempt, without the jitter that the runner adds. */
export function backoffMs(failures: number): number {
  return Math.min(capMs, baseMs * 2 ** Math.max(0, failures - 1))
}

/** Set when the replies took more than the session may: nothing more is done before a person has allowed it. */
export function overspent(state: PipelineState, stage: Stage): Escalation | null {
  const { spentTokens, tokens } = state
  const tokensMax = state.settings.limits.tokensMax ?? Number.POSITIVE_INFINITY
  if (spentTokens <= tokensMax) return null
  const beyond = spentTokens - tokensMax
  // What a server does not report is estimated.
  const taken = spentTokens === tokens ? `${spentTokens}` : `about ${spentTokens}`
  return stopped(
    state,
    stage,
    `the session has taken ${taken} tokens, ${beyond} more than the ${tokensMax} allowed`,
  )
}

/** Set when a request of so many tokens, with a reply as long as the replies so far, would take more than is left. */
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

/** How long the reply to a request of so many tokens may be without taking more than is left; null without a limit. */
export function replyBudget({ spentTokens, settings }: PipelineState, requestTokens: number): number | null {
  const { tokensMax } = settings.limits
  return tokensMax === null ? null : Math.max(1, tokensMax - spentTokens - requestTokens)
}

/** The stage is not over: whoever allows more finds every reply that was paid for. */
function stopped(state: PipelineState, stage: Stage, reason: string): Escalation {
  const { spentTokens, settings } = state
  const enough = 2 * Math.max(spentTokens, settings.limits.tokensMax ?? 0)
  return escalate(stage, "BudgetLimit", "needsPerson", {
    reason,
    advice: `allow more: \`acode resume --max-tokens ${enough}\``,
    status: null,
  })
}
