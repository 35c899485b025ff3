import { windowRules } from "../domain/model-choice.ts"
import {
  longestReply,
  type ModelSelection,
  type PipelineSettings,
  type StageModel,
} from "../domain/pipeline-settings.ts"
import type { ModelServer } from "../provider/server.ts"
import { readEndpoint } from "../provider/transport/endpoint.ts"
import { apiKeyFor } from "./destination.ts"
import { openServer } from "./open-server.ts"
import { egressOf, type ModelContext } from "./server.ts"
import { quickLimits } from "./settings.ts"

/**
 * Returns the settings of a resumed session, with windows not larger than its models are loaded with now: a server that
 * was restarted with less may silently cut requests off. Ollama gets the window with every request, and a server
 * elsewhere is sent nothing but requests for replies. A server that does not report its window or does not answer
 * changes nothing.
 */
export async function withPresentWindows(
  room: ModelContext,
  settings: PipelineSettings,
): Promise<PipelineSettings> {
  const { selection, mode } = settings
  if (selection === null || windowRules[selection.protocol] !== "loaded") return settings
  const { protocol, consentBy } = selection
  const endpoint = readEndpoint(selection.endpoint)
  if (endpoint.problem !== undefined || !endpoint.isLocal) return settings
  const { config, environment, externalCalls } = room
  const server = await openServer({
    protocol,
    endpoint,
    externalCalls,
    egress: egressOf(mode, config.model.endpoint, selection.endpoint, consentBy),
    apiKey: apiKeyFor(protocol, endpoint, config, environment),
  })
  return { ...settings, selection: await fittingModels(room, server, selection) }
}

async function fittingModels(
  { notice, signal }: ModelContext,
  server: ModelServer,
  selection: ModelSelection,
): Promise<ModelSelection> {
  const known = new Map<string, StageModel>()
  const fitting = async (model: StageModel): Promise<StageModel> => {
    const before = known.get(model.name)
    if (before !== undefined) return before
    const { value: facts } = await server.facts(model.name, quickLimits, signal)
    const { name, windowTokens } = model
    const now = facts?.loadedTokens ?? windowTokens
    const outputTokensMax = Math.min(model.outputTokensMax, longestReply(now))
    if (now < windowTokens)
      notice(`model ${name} is loaded with a window of ${now} tokens now, and not with ${windowTokens}`)
    const fits = now < windowTokens ? { ...model, windowTokens: now, outputTokensMax } : model
    known.set(name, fits)
    return fits
  }
  return {
    ...selection,
    planner: await fitting(selection.planner),
    executor: await fitting(selection.executor),
    verifier: await fitting(selection.verifier),
    reviewer: await fitting(selection.reviewer),
  }
}
