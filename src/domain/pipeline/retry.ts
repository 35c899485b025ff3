import type { ErrorCode } from "../error-codes.ts"
import type { ExitName } from "../exit-codes.ts"
import type { PipelineLimits } from "../pipeline-settings.ts"
import type { Stage } from "../stage.ts"
import type { Action } from "./action.ts"
import { askedOtherwise, escalate, moreContext, otherWords } from "./escalation.ts"
import { backoffMs } from "./limits.ts"
import type { PipelineState, StepState, Turn, TurnFailure } from "./state.ts"

export const atOnce = { waitMs: 0, waitAtLeastMs: 0 } as const

/** The turns since the stage was entered: what was before a person let the session go on is not counted again. */
export function turnsOfRun({ turns, stage }: PipelineState): readonly Turn[] {
  return turns.filter(({ seq }) => seq > (stage?.enteredSeq ?? 0))
}

/** Asks a stage that answers with JSON, as often as the stage may be tried; null when that was in vain. */
export function nextReply(state: PipelineState, stage: Stage): Action | null {
  const last = state.turns.at(-1)
  if (last === undefined) return { kind: "askModel", stage, step: null, turn: 1, ...atOnce }
  if (last.failure !== null) return retryAfterFailure(state, last, last.failure, stage, null)
  const replies = state.turns.filter(({ failure }) => failure === null).length
  if (replies > state.settings.limits.stageRetriesMax[stage]) return null
  return { kind: "askModel", stage, step: null, turn: last.turn + 1, ...atOnce }
}

/** After a model could not answer: asked again if that is declared to help, and not more often than allowed. */
export function retryAfterFailure(
  state: PipelineState,
  last: Turn,
  failure: TurnFailure,
  stage: Stage,
  step: StepState | null,
): Action {
  const failures = failuresAlike(turnsOfRun(state), failure)
  const again = { kind: "askModel", stage, step, turn: last.turn } as const
  if (failures === 0) return { ...again, ...atOnce }
  const waitAtLeastMs = failure.retryAfterMs ?? 0
  if (waitAtLeastMs > patienceMs)
    return escalate(stage, "Unrecoverable", "unavailable", {
      reason: `${failure.message}: the model server wants to be left alone for ${Math.ceil(waitAtLeastMs / 1000)} s`,
      advice: "`acode resume` after that time, or with another --model",
      code: codeOf(failure),
    })
  // What had passed when somebody took the session up again is not waited for once more.
  const leftOf = (ms: number) => Math.max(0, ms - Math.max(0, state.drivenSinceMs - last.atMs))
  if (failure.retryable && failures <= retriesAllowed(state.settings.limits, failure.kind))
    // Less is asked of the same server: time would not change its mind.
    return isTooLong(failure.kind)
      ? { ...again, ...atOnce }
      : { ...again, waitMs: leftOf(backoffMs(failures)), waitAtLeastMs: leftOf(waitAtLeastMs) }
  const mending = mendings[failure.kind]
  if (mending !== undefined)
    return escalate(stage, "Unrecoverable", mending.exit, {
      reason: failure.message,
      advice: mending.advice(state, stage),
      code: codeOf(failure),
    })
  const told = `the model could not answer: ${failure.message} (${failure.kind})`
  return escalate(stage, failure.retryable ? "StepRetryLimit" : "Unrecoverable", "unavailable", {
    reason: failures > 1 ? `${told}, ${failures} times` : told,
    advice: "see that the model server is there and answers (`acode doctor`), then `acode resume`",
    code: codeOf(failure),
  })
}

/** How often in a row it failed in this way. */
function failuresAlike(turns: readonly Turn[], { kind }: TurnFailure): number {
  const inVain = turns.slice(turns.findLastIndex(({ failure }) => failure === null) + 1)
  return inVain.filter(({ failure }) => failure !== null && isTooLong(failure.kind) === isTooLong(kind))
    .length
}

/** A server that wants to be left alone for longer is not waited for. */
const patienceMs = 60_000

/** As for a server that could not be used before a session began; what it merely did not answer is no other code. */
function codeOf({ kind }: TurnFailure): ErrorCode {
  return codes[kind] ?? "ACODE-MODEL-001"
}

const codes: Readonly<Record<string, ErrorCode>> = {
  contextTooLong: "ACODE-ORCH-005",
  auth: "ACODE-MODEL-008",
  notFound: "ACODE-MODEL-007",
  badRequest: "ACODE-MODEL-006",
  malformed: "ACODE-MODEL-006",
  refused: "ACODE-MODEL-006",
  script: "ACODE-MODEL-002",
}

interface Mending {
  readonly exit: ExitName
  readonly advice: (state: PipelineState, stage: Stage) => string
}

/** What is not mended by asking again. */
const mendings: Readonly<Record<string, Mending>> = {
  contextTooLong: { exit: "needsPerson", advice: moreContext },
  refused: { exit: "unavailable", advice: () => otherWords },
  badRequest: { exit: "unavailable", advice: askedOtherwise },
  script: { exit: "unavailable", advice: () => "mend the script or the recording, then `acode resume`" },
}

/** Whether the server holds less than acode thinks. It is asked again with less, which is another request. */
export function isTooLong(failureKind: string): boolean {
  return failureKind === "contextTooLong"
}

/**
 * How often a model is asked again after it failed in this way. The two ways are counted apart: a model that does not
 * answer is soon left alone, while a shorter request aims at two thirds of the one before, and only the third of them
 * gets below a third of what was believed to fit.
 */
export function retriesAllowed(limits: PipelineLimits, failureKind: string): number {
  if (isTooLong(failureKind)) return limits.stepRetriesMax
  // What was recorded holds: sessions from before there were two limits had this one for both.
  return limits.modelRetriesMax ?? limits.stepRetriesMax
}
