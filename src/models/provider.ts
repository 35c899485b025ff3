import type { AppEnvironment } from "../config/environment.ts"
import type { Config } from "../config/schema.ts"
import { Failure } from "../domain/failure.ts"
import type { Mode } from "../domain/model-choice.ts"
import type { ModelSelection, StageModel } from "../domain/pipeline-settings.ts"
import type { Provider } from "../provider/contract.ts"
import { withRung } from "../provider/ladder/ladder.ts"
import type { ExternalCallLog } from "../provider/transport/contract.ts"
import { readEndpoint } from "../provider/transport/endpoint.ts"
import { apiKeyFor } from "./destination.ts"
import { openServer } from "./open-server.ts"
import { forgetProbe } from "./probe-store.ts"
import { egressOf } from "./server.ts"
import { modelSettings } from "./settings.ts"

export interface SelectedModels {
  readonly selection: ModelSelection
  readonly mode: Mode
  readonly config: Config
  readonly environment: AppEnvironment
  readonly externalCalls: ExternalCallLog
}

/** Combines the models of a session: each stage is answered by its own. Only the recorded endpoint may be used. */
export async function sessionProvider(selected: SelectedModels): Promise<Provider> {
  const { selection, mode, config, environment, externalCalls } = selected
  const { protocol, consentBy } = selection
  const endpoint = readEndpoint(selection.endpoint)
  if (endpoint.problem !== undefined)
    throw new Failure({
      kind: "unavailable",
      code: "ACODE-MODEL-001",
      message: `the address that the session has recorded cannot be used: ${endpoint.problem}`,
      where: "model",
      hint: "choose again: `acode resume --model NAME`",
    })
  const server = await openServer({
    protocol,
    endpoint,
    externalCalls,
    egress: egressOf(mode, config.model.endpoint, selection.endpoint, consentBy),
    apiKey: apiKeyFor(protocol, endpoint, config, environment),
  })
  const made = (model: StageModel) =>
    withRung(server.provider(modelSettings(config, model)), model.rung, signal =>
      forgetProbe(selected, server, model.name, signal),
    )
  const providers = {
    planner: made(selection.planner),
    executor: made(selection.executor),
    verifier: made(selection.verifier),
    reviewer: made(selection.reviewer),
  }
  return {
    name: protocol,
    ask: (request, signal) =>
      providers[request.stage === "agent" ? "executor" : request.stage].ask(request, signal),
  }
}
