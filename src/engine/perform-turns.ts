import { canonicalJson, type Json, sha256Hex } from "../base/canonical.ts"
import { newEvent } from "../domain/event-definition.ts"
import type { Action } from "../domain/pipeline/action.ts"
import { ContextTrimmed, ModelRequested, TurnFinished } from "../domain/pipeline/pipeline-events.ts"
import { recordJson, recordText, redactJson } from "../gate/recorded.ts"
import type { ModelMessage, ModelReply, ModelRequest } from "../provider/contract.ts"
import type { AgentParts } from "./agent-parts.ts"
import { stageView } from "./stage-view.ts"
import type { StageView } from "./stages/contract.ts"
import { type Trimmed, trimMessages } from "./stages/trimmed-messages.ts"

/** The arguments of calls as the model gave them, by their digest. They are nowhere else, and die with us. */
export type RawArguments = Map<string, Json>

type AskModel = Extract<Action, { kind: "askModel" }>

/** Asks the model and records what it says, before any of it is done. */
export async function askModel(
  parts: AgentParts,
  action: AskModel,
  signal: AbortSignal,
  raw: RawArguments,
): Promise<void> {
  if (action.waitMs > 0) await parts.wait(action.waitMs * (0.5 + parts.jitter() / 2), signal)
  if (signal.aborted) return
  const view = stageView(parts, action.stage, action.step)
  const whole = requestOf(parts, action, view)
  const { contextTokensMax: tokensMax } = parts.session.state.settings.limits
  const trimmed = tokensMax === null ? null : trimMessages(whole.messages, tokensMax)
  const request = trimmed === null ? whole : { ...whole, messages: trimmed.messages }
  const { session, clock } = parts
  const { stage, turn } = action
  const stepId = action.step?.step.id ?? null
  if (trimmed !== null && tokensMax !== null && trimmed.tokensAfter > tokensMax) {
    session.append([tooLong(action, trimmed.tokensAfter, tokensMax)])
    return
  }
  session.append([
    ...(trimmed === null || tokensMax === null || trimmed.shortenedCount === 0
      ? []
      : [trimmedEvent(action, trimmed, tokensMax)]),
    newEvent(ModelRequested, {
      ...{ stage, stepId, turn, replyIndex: request.replyIndex, messageCount: request.messages.length },
      requestDigest: `sha256:${sha256Hex(canonicalJson(request.messages))}`,
    }),
  ])
  parts.faults.reach("agent.asked")
  const beganMs = clock.monotonicMs()
  const reply = await parts.ask(request, signal)
  // Aborted by us: nothing was answered, so the same reply is asked for again.
  if (reply.failure?.kind === "aborted") return
  // Every call of the turn before has its result. Not by id: some models give two calls of a turn the same.
  raw.clear()
  for (const { arguments: args } of reply.calls) raw.set(parts.fingerprint(canonicalJson(args)), args)
  session.append([turnEvent(parts, action, view, reply, Math.round(clock.monotonicMs() - beganMs))])
}

function trimmedEvent({ stage, step, turn }: AskModel, trimmed: Trimmed, tokensMax: number) {
  const { tokensBefore, tokensAfter, shortenedCount } = trimmed
  const stepId = step?.step.id ?? null
  return newEvent(ContextTrimmed, {
    stage,
    stepId,
    turn,
    tokensBefore,
    tokensAfter,
    tokensMax,
    shortenedCount,
  })
}

/** Nobody was asked, so no reply of a script is used up. */
function tooLong({ stage, step, turn }: AskModel, tokens: number, tokensMax: number) {
  const message = `the request needs about ${tokens} tokens and ${tokensMax} are allowed`
  return newEvent(TurnFinished, {
    ...{
      stage,
      turn,
      stepId: step?.step.id ?? null,
      replyIndex: null,
      calls: [],
      output: null,
      problems: [],
    },
    text: { kind: "inline", text: "" },
    failure: { kind: "contextTooLong", message, retryable: false },
    usage: { input: 0, output: 0 },
    durationMs: 0,
  })
}

function turnEvent(
  parts: AgentParts,
  { stage, step, turn }: AskModel,
  view: StageView,
  reply: ModelReply,
  durationMs: number,
) {
  const { redactor, artifacts, fingerprint } = parts
  const { read } = parts.stages[stage]
  const answer = reply.failure !== null || read === null ? null : read(reply.text, view)
  const problems = [...(answer?.problems ?? []), ...shapeProblems(reply)]
  const output = answer?.output === undefined || problems.length > 0 ? null : answer.output
  return newEvent(TurnFinished, {
    ...{ stage, turn, durationMs, problems },
    replyIndex: parts.session.state.replyCount,
    stepId: step?.step.id ?? null,
    text: recordText(redactor.redactText(reply.text), artifacts),
    calls: reply.calls.map(({ id, tool, arguments: args }) => ({
      ...{ id, tool },
      arguments: recordJson(redactJson(args, redactor), artifacts),
      argsDigest: fingerprint(canonicalJson(args)),
    })),
    output: output === null ? null : recordJson(redactJson(output, redactor), artifacts),
    failure:
      reply.failure === null
        ? null
        : {
            kind: reply.failure.kind,
            message: redactor.redactText(reply.failure.message),
            retryable: reply.failure.retryable,
          },
    usage: reply.usage,
  })
}

function shapeProblems({ failure, end }: ModelReply): readonly string[] {
  if (failure !== null) return []
  return end === "length" ? ["the answer was cut off: answer more briefly"] : []
}

/** No secret leaves for a model, whoever put it into the request. */
function requestOf(parts: AgentParts, { stage }: AskModel, view: StageView): ModelRequest {
  const definition = parts.stages[stage]
  const { state } = parts.session
  const { redactor } = parts
  const redact = (message: ModelMessage): ModelMessage => ({
    ...message,
    text: redactor.redactText(message.text),
  })
  return {
    stage,
    replyIndex: state.replyCount,
    model: state.settings.model,
    messages: definition.messages(view).map(redact),
    tools: definition.offered(view),
    format:
      definition.format === null
        ? null
        : { name: definition.format.name, schema: definition.format.schema() },
  }
}
