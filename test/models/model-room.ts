import { systemClock } from "../../src/base/clock.ts"
import { defaultConfig } from "../../src/config/defaults.ts"
import { readEnvironment } from "../../src/config/environment.ts"
import type { Config } from "../../src/config/schema.ts"
import type { StageModel } from "../../src/domain/pipeline-settings.ts"
import { externalCallLog } from "../../src/models/external-call-log.ts"
import type { ModelContext, ServerWish } from "../../src/models/server.ts"
import type { UsualServer } from "../../src/provider/protocol.ts"

export const fakeModel: StageModel = {
  name: "fake",
  rung: "native",
  editFormat: "whole",
  windowTokens: 8192,
  outputTokensMax: 4096,
}

/** The configuration in force with some values of `model:` and `models:` of its own. */
export function configWith(
  model: Partial<Config["model"]> = {},
  more: Partial<Pick<Config, "mode" | "models">> = {},
): Config {
  const mode = { ...defaultConfig.mode, ...more.mode }
  const models = { ...defaultConfig.models, ...more.models }
  // as: every key has its default there; the schema only makes the types wider.
  return { ...defaultConfig, mode, models, model: { ...defaultConfig.model, ...model } } as unknown as Config
}

export interface TestedRoom extends ModelContext {
  readonly notices: string[]
}

export function modelRoomWith(
  config: Config,
  variables: Readonly<Record<string, string>> = {},
  usualServers: readonly UsualServer[] = [],
): TestedRoom {
  const notices: string[] = []
  return {
    config,
    usualServers,
    notices,
    environment: readEnvironment(variables),
    notice: text => void notices.push(text),
    signal: AbortSignal.timeout(20_000),
    externalCalls: externalCallLog(systemClock),
  }
}

export function wishFor(wish: Partial<ServerWish> = {}): ServerWish {
  return { mode: "local-only", model: null, consentsNow: null, consented: null, ...wish }
}

export function usualAt(endpoint: string, protocol: UsualServer["protocol"], title = "Fake"): UsualServer {
  return { title, protocol, endpoint, start: `start ${title}` }
}
