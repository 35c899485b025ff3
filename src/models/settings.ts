import type { Config } from "../config/schema.ts"
import { longestReply, type StageModel } from "../domain/pipeline-settings.ts"
import type { ModelSettings } from "../provider/server.ts"
import type { TransportLimits } from "../provider/transport/contract.ts"

type ReplySettings = Pick<StageModel, "name" | "outputTokensMax"> & { readonly windowTokens: number | null }

/** Returns the settings of one model. */
export function modelSettings(
  config: Config,
  { name, windowTokens, outputTokensMax }: ReplySettings,
): ModelSettings {
  const { parameters, keep_alive: keepAlive, streaming: streams } = config.model
  return {
    model: name,
    windowTokens,
    outputTokensMax,
    keepAlive,
    streams,
    temperature: parameters.temperature,
    topP: parameters.top_p,
    limits: replyLimits(config),
  }
}

/** Returns the limit of a reply, before any was cut off. */
export function outputTokensMax({ model }: Config, windowTokens: number): number {
  return Math.min(model.parameters.max_tokens, longestReply(windowTokens))
}

/** Returns the time limits of a reply. */
export function replyLimits({ model }: Config): TransportLimits {
  const connectMs = milliseconds(model.connect_timeout_seconds)
  const wholeMs = milliseconds(model.timeout_seconds)
  // The first byte of a reply that is not streamed comes when the model is done.
  if (!model.streaming) return { connectMs, firstByteMs: wholeMs, betweenMs: wholeMs, wholeMs }
  return {
    connectMs,
    firstByteMs: milliseconds(model.first_token_timeout_seconds),
    betweenMs: milliseconds(model.token_timeout_seconds),
    wholeMs,
  }
}

/** Returns the limits of requests that a server answers without asking a model. */
export function queryLimits({ model }: Config): TransportLimits {
  const connectMs = milliseconds(model.connect_timeout_seconds)
  return { connectMs, firstByteMs: 10_000, betweenMs: 10_000, wholeMs: 20_000 }
}

/** Limits for a server of this machine that may not run, so that the user does not wait. */
export const quickLimits: TransportLimits = {
  connectMs: 500,
  firstByteMs: 1_500,
  betweenMs: 1_500,
  wholeMs: 1_800,
}

function milliseconds(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000))
}
