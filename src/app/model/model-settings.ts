import { longestReply, type StageModel } from "../../domain/pipeline/settings.ts"
import type { ModelSettings } from "../../provider/server.ts"
import type { Config } from "../config-schema.ts"
import { replyLimits } from "./limits.ts"

type Asked = Pick<StageModel, "name" | "outputTokensMax"> & { readonly windowTokens: number | null }

/** How one model is asked. */
export function modelSettings(config: Config, { name, windowTokens, outputTokensMax }: Asked): ModelSettings {
  const { parameters, keep_alive: keepAlive, streaming: streams } = config.model
  return {
    ...{ model: name, windowTokens, outputTokensMax, keepAlive, streams },
    temperature: parameters.temperature,
    topP: parameters.top_p,
    limits: replyLimits(config),
  }
}

/** How long a reply may be, before any was cut off. */
export function outputTokensMax({ model }: Config, windowTokens: number): number {
  return Math.min(model.parameters.max_tokens, longestReply(windowTokens))
}
