import type { StageModel } from "../domain/pipeline-settings.ts"
import type { ModelProbe } from "../provider/ladder/contract.ts"
import { probeKey, probeModel } from "../provider/ladder/probe.ts"
import { decideEditFormat, decideWindow } from "../provider/ladder/window.ts"
import { protocolTable } from "../provider/protocol.ts"
import type { ModelFacts, ModelServer } from "../provider/server.ts"
import { version } from "../version.ts"
import { probeStore } from "./probe-store.ts"
import { serverProblem } from "./problem.ts"
import type { ModelRoom } from "./server.ts"
import { lookLimits, modelSettings, outputTokensMax } from "./settings.ts"

/** One model as a session will use it, and what is known about it. */
export interface KnownModel {
  readonly model: StageModel
  readonly notes: readonly string[]
}

/**
 * Tries the model out unless that was done before. `asksAnew` tries it out whatever is known. Everything that follows
 * from what the server tells is decided anew: it may have been started otherwise since.
 */
export async function knownModel(
  room: ModelRoom,
  server: ModelServer,
  name: string,
  asksAnew: boolean,
): Promise<KnownModel> {
  const { config } = room
  const facts = await factsOf(room, server, name)
  const window = decideWindow(server.protocol, facts, config.model.parameters.context_window)
  const { protocol } = server
  const known = { protocol, name, parameters: facts.parameters, windowTokens: window.value }
  const format = decideEditFormat(known, config.model.edit_format)
  const asked = { server, name, facts, windowTokens: window.value, asksAnew }
  const { rung, notes } = isKnownToCallTools(server, name) ? knownToWork : await triedOut(room, asked)
  const model: StageModel = {
    ...{ name, rung, editFormat: format.value, windowTokens: window.value },
    outputTokensMax: outputTokensMax(config, window.value),
  }
  return { model, notes: [...notes, window.note, format.note] }
}

const knownToWork: ModelProbe = { rung: "native", notes: ["native: known to work, not tried"] }

/** Returns how long a request and its reply may be together, for a model that only has to write text. */
export async function windowTokensOf(room: ModelRoom, server: ModelServer, name: string): Promise<number> {
  const facts = await factsOf(room, server, name)
  return decideWindow(server.protocol, facts, room.config.model.parameters.context_window).value
}

interface AskedModel {
  readonly server: ModelServer
  readonly name: string
  readonly facts: ModelFacts
  readonly windowTokens: number
  readonly asksAnew: boolean
}

async function triedOut(room: ModelRoom, asked: AskedModel): Promise<ModelProbe> {
  const { config, environment, signal, notice } = room
  const { server, name, facts, windowTokens, asksAnew } = asked
  const key = probeKey(server.endpoint, name, facts, version)
  const store = probeStore(environment.xdgCacheHome)
  const cached = asksAnew ? null : store.read(key)
  if (cached !== null) return cached
  notice(`trying out what ${name} can do, once; a model that has to be loaded takes its time`)
  const settings = modelSettings(config, {
    ...{ name, windowTokens },
    outputTokensMax: Math.min(outputTokensMax(config, windowTokens), probeTokensMax),
  })
  const subject = { provider: server.provider(settings), model: name, declaresTools: facts.declaresTools }
  const result = await probeModel(subject, signal)
  if (result.failure !== undefined) throw serverProblem(result.failure, server.endpoint)
  if (result.isSure) store.write(key, result.probe)
  return result.probe
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

/** Reports whether a model is one of the company's own; other servers only speak its protocol. */
function isKnownToCallTools({ protocol }: ModelServer, name: string): boolean {
  return protocolTable[protocol].ownModels?.test(name) === true
}
