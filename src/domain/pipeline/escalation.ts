import { shellQuoted } from "../../base/text.ts"
import type { ErrorCode } from "../error-codes.ts"
import type { EscalationLevel, StageStatus } from "../events/pipeline-events.ts"
import { type ExitName, exitCodes } from "../exit-codes.ts"
import { windowRules } from "../model-choice.ts"
import { longestReply, type ModelSelection, replyTokensMax, requestTokensMax } from "../pipeline-settings.ts"
import type { Stage } from "../stage.ts"
import type { Escalation } from "./action.ts"
import type { PipelineState } from "./state.ts"

/** The advice for any step that cannot be finished. */
export const withoutStep = "or continue without it: `acode resume --skip-failed-step`"

/** Returns the action that stops a session for a person, with the reason and with advice for the person. */
export function escalate(
  stage: Stage,
  level: EscalationLevel,
  exit: ExitName,
  told: {
    readonly reason: string
    readonly advice: string
    readonly status?: StageStatus | null
    /** A code that is more exact than that of the level and the exit code. */
    readonly code?: ErrorCode
  },
): Escalation {
  const { reason, advice, status = "failed", code = codeOf(level, exit) } = told
  return { kind: "escalate", stage, level, exitCode: exitCodes[exit].code, code, reason, advice, status }
}

/** Returns the error code of a session that cannot continue by itself. */
export function codeOf(level: EscalationLevel, exit: ExitName): ErrorCode | null {
  return exit === "done" ? null : (codesByExit[exit] ?? codesByLevel[level] ?? needsPerson)
}

/** The session makes no progress, or has used up its retries or tokens. */
export const needsPerson: ErrorCode = "ACODE-ORCH-004"

const codesByExit: Partial<Readonly<Record<ExitName, ErrorCode>>> = {
  stageTimeout: "ACODE-ORCH-002",
  cycleLimit: "ACODE-ORCH-003",
  stepFailed: "ACODE-EXEC-001",
  turnLimit: "ACODE-EXEC-003",
  violation: "ACODE-EXEC-004",
  denied: "ACODE-EXEC-005",
  stepTimeout: "ACODE-EXEC-006",
}

const codesByLevel: Partial<Readonly<Record<EscalationLevel, ErrorCode>>> = { StageFailed: "ACODE-ORCH-001" }

/** The advice for a model that refuses. */
export const otherWords =
  "rephrase the request, or use another model (`acode models list`) with `acode resume` and --model; `acode config mode` shows the allowed models"

/**
 * Returns advice to raise the size of a request. A configured size is raised by a flag; the window is recorded, and
 * grows only with another model choice.
 */
export function moreContext({ settings, cutOff }: PipelineState, stage: Stage): string {
  const { selection, limits } = settings
  const allowed = requestTokensMax(settings, stage, cutOff[stage])
  if (selection === null || allowed === limits.contextTokensMax)
    return `allow more: \`acode resume --max-context-tokens ${2 * (limits.contextTokensMax ?? 8_192)}\``
  return `${largerWindow(selection, stage)}, then ${againWith(selection, stage)}`
}

/** Returns advice about cut off answers; null if the last answer was not cut off or its limit is unknown. */
export function longerReplies({ settings, turns, cutOff }: PipelineState, stage: Stage): string | null {
  const { selection } = settings
  if (selection === null || turns.at(-1)?.isCutOff !== true) return null
  const allowed = replyTokensMax(selection, stage, Math.max(0, (cutOff[stage] ?? 0) - 1))
  const longest = longestReply(selection[stage].windowTokens)
  const more =
    allowed < longest
      ? `allow it up to ${longest}: \`acode config set model.parameters.max_tokens ${longest}\``
      : `this is half of its window: ${largerWindow(selection, stage)}`
  return `its answers, thinking included, are longer than ${allowed} tokens; ${more}, then ${againWith(selection, stage)}`
}

/**
 * Returns advice about a rejected request: acode probed the server once, and it may have been restarted with other
 * settings since.
 */
export function askedOtherwise({ settings: { selection } }: PipelineState, stage: Stage): string {
  if (selection === null) return "check why the request is refused, then `acode resume`"
  const model = modelOf(selection, stage)
  return `if the server or its model has changed, probe it again: \`acode models probe ${model}\`, then \`acode resume --model ${model}\`; or name another model`
}

function largerWindow(selection: ModelSelection, stage: Stage): string {
  const pinned = `\`acode config set model.parameters.context_window ${2 * selection[stage].windowTokens}\``
  return windowRules[selection.protocol] === "requested"
    ? `give the model a larger window: ${pinned}`
    : `let the server load the model with a larger window (and ${pinned}, if the server does not report its window)`
}

function againWith(selection: ModelSelection, stage: Stage): string {
  return `\`acode resume --model ${modelOf(selection, stage)}\``
}

function modelOf(selection: ModelSelection, stage: Stage): string {
  return shellQuoted(`${selection.protocol}/${selection[stage].name}`)
}
