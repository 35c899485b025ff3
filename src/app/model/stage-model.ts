import type { StageModel } from "../../domain/pipeline/settings.ts"
import type { ModelProbe } from "../../provider/ladder/contract.ts"
import { decideEditFormat } from "../../provider/ladder/edit-format.ts"
import { probeModel } from "../../provider/ladder/probe.ts"
import { probeKey } from "../../provider/ladder/probe-cache.ts"
import { decideWindow } from "../../provider/ladder/window.ts"
import type { ModelFacts, ModelServer } from "../../provider/server.ts"
import { version } from "../../version.ts"
import type { ModelRoom } from "./found-server.ts"
import { lookLimits } from "./limits.ts"
import { serverProblem } from "./model-problem.ts"
import { modelSettings, outputTokensMax } from "./model-settings.ts"
import { probeStore } from "./probe-store.ts"

/** One model as a session will use it, and what is known about it. */
export interface KnownModel {
  readonly model: StageModel
  readonly notes: readonly string[]
}

/** Tries the model out unless that was done before. `asksAnew` tries it out whatever is known. */
export async function knownModel(
  room: ModelRoom,
  server: ModelServer,
  name: string,
  asksAnew: boolean,
): Promise<KnownModel> {
  const { config, environment, signal, notice } = room
  const facts = await factsOf(room, server, name)
  const window = decideWindow(server.protocol, facts, config.model.parameters.context_window)
  if (isKnownToCallTools(server, name)) {
    const format = decideEditFormat(server.protocol, facts.parameters, window.value)
    const notes = ["native: known to work, not tried", window.note, format.note]
    return asStageModel(room, name, { rung: "native", editFormat: format.value, notes }, window.value)
  }
  const key = probeKey(server.endpoint, name, facts.digest, version)
  const store = probeStore(environment.xdgCacheHome)
  const cached = asksAnew ? null : store.read(key)
  if (cached !== null) return asStageModel(room, name, cached, window.value)
  notice(`trying out what ${name} can do, once; a model that has to be loaded takes its time`)
  const settings = modelSettings(config, {
    name,
    windowTokens: window.value,
    outputTokensMax: Math.min(outputTokensMax(config, window.value), probeTokensMax),
  })
  const result = await probeModel({ server, settings, configuredWindow: window.value }, signal)
  if (result.failure !== undefined) throw serverProblem(result.failure, server.endpoint)
  if (result.isSure) store.write(key, result.probe)
  return asStageModel(room, name, result.probe, window.value)
}

/** Enough for a model that thinks before it calls. */
const probeTokensMax = 2_048

const noFacts: ModelFacts = {
  ...{ trainedTokens: null, loadedTokens: null, declaresTools: null, parameters: null, digest: null },
}

async function factsOf(
  { config, signal }: ModelRoom,
  server: ModelServer,
  name: string,
): Promise<ModelFacts> {
  const answered = await server.facts(name, lookLimits(config), signal)
  if (answered.failure === undefined) return answered.value
  // A server need not tell anything about a model; whether it has it is seen when it is asked.
  if (answered.failure.kind === "notFound") return noFacts
  throw serverProblem(answered.failure, server.endpoint)
}

/** Anthropic's own models; others only speak the protocol. */
function isKnownToCallTools({ protocol }: ModelServer, name: string): boolean {
  return protocol === "anthropic" && /claude/i.test(name)
}

function asStageModel(
  { config }: ModelRoom,
  name: string,
  { rung, editFormat, notes }: Pick<ModelProbe, "rung" | "editFormat" | "notes">,
  windowTokens: number,
): KnownModel {
  const model = {
    name,
    rung,
    editFormat,
    windowTokens,
    outputTokensMax: outputTokensMax(config, windowTokens),
  }
  return { model, notes }
}
