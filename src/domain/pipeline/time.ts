import type { PipelineState } from "./state.ts"

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
