import type { ErrorCode } from "../error-codes.ts"
import type { ExitName } from "../exit-codes.ts"
import type { PipelineLimits } from "../pipeline-settings.ts"
import type { Stage } from "../stage.ts"
import type { Action } from "./action.ts"
import { askedOtherwise, escalate, moreContext, otherWords } from "./escalation.ts"
import { backoffMs } from "./limits.ts"
import { triesOf } from "./planner-reply.ts"
import type { PipelineState, StepState, Turn, TurnFailure } from "./state.ts"

export const atOnce = { waitMs: 0, waitAtLeastMs: 0 } as const

/** Returns the turns since the stage was entered: turns before a person resumed the session do not count again. */
export function turnsOfRun({ turns, stage }: PipelineState): readonly Turn[] {
  return turns.filter(({ seq }) => seq > (stage?.enteredSeq ?? 0))
}

/** Asks a stage that answers with JSON, as often as the stage may be tried; null after the last try. */
export function nextReply(state: PipelineState, stage: Stage): Action | null {
  const last = state.turns.at(-1)
  if (last === undefined) return { kind: "askModel", stage, step: null, turn: 1, ...atOnce }
  if (last.failure !== null) return retryAfterFailure(state, last, last.failure, stage, null)
  if (triesOf(state).length > state.settings.limits.stageRetriesMax[stage]) return null
  return { kind: "askModel", stage, step: null, turn: last.turn + 1, ...atOnce }
}

/** Repeats a request after the model could not answer, if that can help, and at most as often as allowed. */
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
      reason: `${failure.message}: the model server asked for no requests for ${Math.ceil(waitAtLeastMs / 1000)} s`,
      advice: "`acode resume` after that time, or with another --model",
      code: codeOf(failure),
    })
  // Time that passed before another process took the session over is not waited for again.
  const leftOf = (ms: number) => Math.max(0, ms - Math.max(0, state.drivenSinceMs - last.atMs))
  if (failure.retryable && failures <= retriesAllowed(state.settings.limits, failure.kind))
    // The same server gets a shorter request: waiting would not help.
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
    advice: "make sure that the model server runs and answers (`acode doctor`), then `acode resume`",
    code: codeOf(failure),
  })
}

/** Returns how many times in a row a request failed in this way. */
function failuresAlike(turns: readonly Turn[], { kind }: TurnFailure): number {
  const inVain = turns.slice(turns.findLastIndex(({ failure }) => failure === null) + 1)
  return inVain.filter(({ failure }) => failure !== null && isTooLong(failure.kind) === isTooLong(kind))
    .length
}

/** The longest wait that a server may ask for. */
const patienceMs = 60_000

/**
 * Returns the error code, the same as for an unusable server before a session; a server that does not answer has no
 * separate code.
 */
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

/** Failures that a repetition does not fix. */
const mendings: Readonly<Record<string, Mending>> = {
  contextTooLong: { exit: "needsPerson", advice: moreContext },
  refused: { exit: "unavailable", advice: () => otherWords },
  badRequest: { exit: "unavailable", advice: askedOtherwise },
  script: { exit: "unavailable", advice: () => "fix the script or the recording, then `acode resume`" },
}

/**
 * Returns whether the server accepts less than acode estimates. It is asked again with less, which is another
 * request.
 */
export function isTooLong(failureKind: string): boolean {
  return failureKind === "contextTooLong"
}

/**
 * Returns how many times a model is asked again after such a failure. The two kinds are counted separately: a model
 * that does not answer is given up soon, while a shorter request aims at two thirds of the one before, and only the
 * third of them gets below a third of what was believed to fit.
 */
export function retriesAllowed(limits: PipelineLimits, failureKind: string): number {
  if (isTooLong(failureKind)) return limits.stepRetriesMax
  // The recorded limits apply: sessions that are older than the second limit had this one for both.
  return limits.modelRetriesMax ?? limits.stepRetriesMax
}
