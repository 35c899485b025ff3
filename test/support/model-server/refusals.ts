import type { Json } from "../../../src/base/canonical.ts"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import type { Flavour } from "./contract.ts"
import { wholeJson } from "./http.ts"

export interface ServerKind {
  readonly protocol: Protocol
  readonly flavour: Flavour
}

/** Returns a refusal in the error format of a server. */
export function refusal(kind: ServerKind, status: number, message: string, type?: string): Uint8Array {
  return wholeJson(status, errorBody(kind, status, message, type))
}

export function errorBody(
  { protocol, flavour }: ServerKind,
  status: number,
  message: string,
  type = errorType(protocol, status),
): Json {
  if (protocol === "ollama") return { error: message }
  if (protocol === "anthropic")
    return { type: "error", error: { type, message }, request_id: "req_011CSHoEeqs5C35K2UUqR7Fy" }
  if (flavour === "lmstudio") return { error: message }
  if (flavour === "vllm")
    return { object: "error", message, type: "BadRequestError", param: null, code: status }
  if (flavour === "llamacpp") return { error: { code: status, message, type } }
  return { error: { message, type, param: null, code: null } }
}

function errorType(protocol: Protocol, status: number): string {
  const names = protocol === "anthropic" ? anthropicTypes : openaiTypes
  return names[status] ?? (status < 500 ? "invalid_request_error" : "api_error")
}

const anthropicTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
}

const openaiTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "server_error",
  503: "unavailable_error",
}

/**
 * Returns the error of a server for a request that does not fit. Null for Ollama, which reports none: it cuts the
 * prompt and counts the rest.
 */
export function overflow(kind: ServerKind, promptTokens: number, window: number): Uint8Array | null {
  const { protocol, flavour } = kind
  if (protocol === "ollama") return null
  if (protocol === "anthropic")
    return refusal(kind, 400, `prompt is too long: ${promptTokens} tokens > ${window} maximum`)
  if (flavour === "llamacpp") return llamacppOverflow(promptTokens, window)
  if (flavour === "lmstudio")
    return refusal(
      kind,
      400,
      `Trying to keep the first ${promptTokens} tokens when context the overflows. However, the model is loaded with context length of only ${window} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input`,
    )
  const tooLong = `This model's maximum context length is ${window} tokens.`
  if (flavour === "vllm")
    return refusal(
      kind,
      400,
      `${tooLong} However, you requested ${promptTokens + 4096} tokens (${promptTokens} in the messages, 4096 in the completion). Please reduce the length of the messages or completion.`,
    )
  const message = `${tooLong} However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`
  return wholeJson(400, {
    error: { message, type: "invalid_request_error", param: "messages", code: "context_length_exceeded" },
  })
}

function llamacppOverflow(promptTokens: number, window: number): Uint8Array {
  const message = `request (${promptTokens} tokens) exceeds the available context size (${window} tokens), try increasing it`
  return wholeJson(400, {
    error: {
      code: 400,
      message,
      type: "exceed_context_size_error",
      n_prompt_tokens: promptTokens,
      n_ctx: window,
    },
  })
}
