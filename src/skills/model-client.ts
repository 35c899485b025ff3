import type { ExternalCalls } from "../domain/external-calls.ts"
import { ExecutionError, type ExecutionErrorCode } from "../domain/skill/execution-error.ts"
import { thinkingEnds, thinkingStarts } from "../domain/text/thinking.ts"
import type { ModelFailure, ModelMessage, ModelReply, ModelRequest } from "../provider/contract.ts"
import type { ClaudeClient, ClaudeRequest, ClaudeResponse } from "./contract.ts"

export interface ModelAsking {
  /** Asks a model, within bounds; never throws. */
  readonly ask: (request: ModelRequest, signal: AbortSignal) => Promise<ModelAnswer>
  /** The place of the next request in a script or a recording. */
  readonly replyIndex: () => number
}

export interface ModelAnswer {
  readonly reply: ModelReply
  /** Requests to other machines, where there were any. */
  readonly externalCalls?: ExternalCalls | undefined
}

/** Returns a client that asks a model of any provider. */
export function modelClient({ ask, replyIndex }: ModelAsking): ClaudeClient {
  return {
    complete: async request => {
      const signal = request.signal ?? new AbortController().signal
      if (signal.aborted) throw new ExecutionError("aborted", "ABORTED", "")
      const { reply, externalCalls } = await ask(modelRequest(request, replyIndex()), signal)
      return responseOf(reply, externalCalls)
    },
  }
}

function modelRequest({ systemPrompt, userMessage, model, maxTokens }: ClaudeRequest, replyIndex: number) {
  const system: readonly ModelMessage[] = systemPrompt === "" ? [] : [{ role: "system", text: systemPrompt }]
  return {
    stage: "agent" as const,
    replyIndex,
    model,
    tools: [],
    format: null,
    outputTokensMax: maxTokens,
    messages: [...system, { role: "user" as const, text: userMessage }],
  }
}

function responseOf(reply: ModelReply, externalCalls: ExternalCalls | undefined): ClaudeResponse {
  const { usage, failure, end, calls } = reply
  const text = withoutLeadingThinking(reply.text)
  const failed = (message: string, code: ExecutionErrorCode) =>
    new ExecutionError(message, code, "", undefined, {
      retryAfterMs: failure?.retryAfterMs ?? null,
      inputTokens: usage.input,
      outputTokens: usage.output,
      externalCalls,
    })
  if (failure !== null) throw failed(failure.message, codeOf(failure))
  if (end === "refused") throw failed("the model refuses to answer", "RESPONSE_REFUSED")
  if (text === "" && calls.length > 0)
    throw failed("the model called a tool instead of answering", "RESPONSE_EMPTY")
  if (text === "") throw failed("the reply has no text", "RESPONSE_EMPTY")
  return {
    content: text,
    inputTokens: usage.input,
    outputTokens: usage.output,
    stopReason: end === "length" ? "max_tokens" : "end_turn",
    ...(externalCalls === undefined ? {} : { externalCalls }),
  }
}

/** Removes thinking only where the reply begins with it: further down it may be what was asked for. */
function withoutLeadingThinking(text: string): string {
  const start = text.trimStart()
  if (!thinkingStarts.some(mark => start.startsWith(mark))) return text
  const ends = thinkingEnds.flatMap(mark => {
    const at = start.indexOf(mark)
    return at === -1 ? [] : [at + mark.length]
  })
  return ends.length === 0 ? "" : start.slice(Math.min(...ends)).trimStart()
}

function codeOf({ kind, isConnection }: ModelFailure): ExecutionErrorCode {
  if (kind === "unavailable") return isConnection === true ? "API_TIMEOUT" : "API_ERROR"
  return codes[kind]
}

const codes = {
  rateLimited: "API_RATE_LIMITED",
  overloaded: "API_OVERLOADED",
  timeout: "API_TIMEOUT",
  auth: "API_AUTH",
  badRequest: "API_BAD_REQUEST",
  notFound: "API_NOT_FOUND",
  contextTooLong: "API_BAD_REQUEST",
  refused: "RESPONSE_REFUSED",
  truncated: "API_ERROR",
  malformed: "API_ERROR",
  // A script or a recording that has no such reply: asking again would not make one.
  script: "API_BAD_REQUEST",
  aborted: "ABORTED",
} as const satisfies Record<Exclude<ModelFailure["kind"], "unavailable">, ExecutionErrorCode>
