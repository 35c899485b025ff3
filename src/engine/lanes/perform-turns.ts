import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import { oneLine } from "../../base/text.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { ContextTrimmed, ModelRequested, TurnFinished } from "../../domain/events/turn-events.ts"
import type { Action } from "../../domain/pipeline/action.ts"
import { beyondBudget } from "../../domain/pipeline/limits.ts"
import { isTooLong } from "../../domain/pipeline/retry.ts"
import { redactJson } from "../../domain/text/redacted-json.ts"
import { withoutThinking } from "../../domain/text/thinking.ts"
import { recordJson, recordText } from "../../gate/recorded.ts"
import type { ModelCall, ModelFailure, ModelMessage, ModelReply } from "../../provider/contract.ts"
import type { AgentParts } from "../agent-parts.ts"
import { type FittedRequest, modelRequest } from "../context/model-request.ts"
import { stageView } from "../context/stage-view.ts"
import type { StageView } from "../stages/contract.ts"
import { escalateNow } from "./perform-stages.ts"

/** The arguments of calls as the model gave them, by their digest. They exist only in this process. */
export type RawArguments = Map<string, Json>

type AskModel = Extract<Action, { kind: "askModel" }>

/**
 * Asks the model and records its answer before any of it is done. Before the request there is nothing to lose: a
 * session can rest at once.
 */
export async function askModel(
  parts: AgentParts,
  action: AskModel,
  { signal, waiting }: { readonly signal: AbortSignal; readonly waiting: () => AbortSignal },
  raw: RawArguments,
): Promise<void> {
  const waitMs = Math.max(action.waitAtLeastMs, action.waitMs * parts.jitter())
  const early = waitMs > 0 ? waiting() : signal
  if (waitMs > 0) await parts.wait(waitMs, early)
  if (early.aborted) return
  const view = await stageView(parts, action.stage, action.step)
  const fitted = modelRequest(parts, action.stage, view)
  const { session, clock } = parts
  if (fitted.problem !== null) {
    session.append([tooLong(action, fitted.problem)])
    return
  }
  const beyond = beyondBudget(session.state, action.stage, fitted.tokensAfter)
  if (beyond !== null) return escalateNow(parts, beyond)
  const { request } = fitted
  session.append([...trimmedEvents(action, fitted), requestedEvent(parts, action, fitted)])
  parts.faults.reach("agent.asked")
  const beganMs = clock.monotonicMs()
  const reply = await parts.ask(request, signal)
  // Aborted by acode: without an answer the same reply is requested again.
  if (reply.failure?.kind === "aborted") return
  // Every call of the turn before has its result. Not by id: some models give two calls of a turn the same id.
  raw.clear()
  const calls = reply.calls.map(call => ({
    ...call,
    digest: parts.fingerprint(canonicalJson(call.arguments)),
  }))
  for (const { digest, arguments: args } of calls) raw.set(digest, args)
  session.append([turnEvent(parts, action, view, reply, calls, Math.round(clock.monotonicMs() - beganMs))])
}

function requestedEvent(
  { session }: AgentParts,
  { stage, step, turn }: AskModel,
  { request, estimatedTokens }: FittedRequest,
) {
  const { selection } = session.state.settings
  return newEvent(ModelRequested, {
    stage,
    stepId: step?.step.id ?? null,
    turn,
    replyIndex: request.replyIndex,
    messageCount: request.messages.length,
    requestDigest: `sha256:${sha256Hex(request.messages.map(digestOf).join(","))}`,
    estimatedTokens,
    model: selection?.[stage].name ?? null,
    endpoint: selection?.endpoint ?? null,
  })
}

/** Most messages are the same objects as in the request before. */
const digestOf = onceFor((message: ModelMessage) => sha256Hex(canonicalJson(message)))

function trimmedEvents({ stage, step, turn }: AskModel, fitted: FittedRequest) {
  const { tokensBefore, tokensAfter, tokensMax, shortened, shortenedCount, leftOut } = fitted
  if (shortenedCount === 0) return []
  const stepId = step?.step.id ?? null
  return [
    newEvent(ContextTrimmed, {
      stage,
      stepId,
      turn,
      tokensBefore,
      tokensAfter,
      tokensMax,
      shortenedCount,
      shortened: [...shortened],
      ...(leftOut.length === 0 ? {} : { leftOut: [...leftOut] }),
    }),
  ]
}

/** Returns the end of a turn without a request, so no reply of a script is used up. */
function tooLong({ stage, step, turn }: AskModel, message: string) {
  return newEvent(TurnFinished, {
    stage,
    turn,
    stepId: step?.step.id ?? null,
    replyIndex: null,
    calls: [],
    output: null,
    problems: [],
    text: { kind: "inline", text: "" },
    failure: { kind: "contextTooLong", message, retryable: false, retryAfterMs: null },
    usage: { input: 0, output: 0 },
    durationMs: 0,
  })
}

function turnEvent(
  parts: AgentParts,
  { stage, step, turn }: AskModel,
  view: StageView,
  reply: ModelReply,
  calls: readonly (ModelCall & { readonly digest: string })[],
  durationMs: number,
) {
  const { redactor, artifacts } = parts
  const { read } = parts.stages[stage]
  const failure = failureIn(reply)
  const isAnswer = failure === null && calls.length === 0
  const answer = isAnswer && read !== null ? read(reply.text, view) : null
  const problems = [...(answer?.problems ?? []), ...shapeProblems(reply)]
  const output = answer?.output === undefined || problems.length > 0 ? null : answer.output
  return newEvent(TurnFinished, {
    stage,
    turn,
    durationMs,
    problems,
    ...(failure === null && reply.end === "length" ? { isCutOff: true as const } : {}),
    // A reply that a script lacks was not given: once the script is fixed, the same reply is requested again.
    replyIndex: failure?.kind === "script" ? null : parts.session.state.replyCount,
    stepId: step?.step.id ?? null,
    text: recordText(redactor.redactText(reply.text), artifacts),
    calls: calls.map(({ id, tool, arguments: args, digest }) => ({
      id,
      tool,
      arguments: recordJson(redactJson(args, redactor), artifacts),
      argsDigest: digest,
    })),
    output: output === null ? null : recordJson(redactJson(output, redactor), artifacts),
    failure:
      failure === null
        ? null
        : {
            kind: failure.kind,
            message: redactor.redactText(failure.message),
            retryable: failure.retryable || isTooLong(failure.kind),
            retryAfterMs: failure.retryAfterMs,
          },
    usage: reply.usage,
    ...parts.externalCalls(),
  })
}

/**
 * Returns the failure of a reply. A refusal is not an answer, whatever its text: neither a plan nor a verdict is read
 * from it.
 */
function failureIn({ failure, end, text }: ModelReply): ModelFailure | null {
  if (failure !== null || end !== "refused") return failure
  const said = oneLine(withoutThinking(text).trim(), 200)
  const message = `the model refuses to answer${said === "" ? "" : `: ${said}`}`
  return { kind: "refused", message, retryable: false, retryAfterMs: null }
}

function shapeProblems({ failure, end, problems }: ModelReply): readonly string[] {
  if (failure !== null || end === "refused") return []
  return end === "length" ? [...problems, "the answer was cut off: answer more briefly"] : problems
}
