import type { StageModel } from "../domain/pipeline-settings.ts"
import type { ModelProbe } from "../provider/ladder/contract.ts"
import { probeKey, probeModel } from "../provider/ladder/probe.ts"
import { decideEditFormat, decideWindow } from "../provider/ladder/window.ts"
import { protocolTable } from "../provider/protocol.ts"
import type { ModelFacts, ModelServer } from "../provider/server.ts"
import { version } from "../version.ts"
import { probeStore } from "./probe-store.ts"
import { serverProblem } from "./problem.ts"
import type { ModelContext } from "./server.ts"
import { modelSettings, outputTokensMax, queryLimits } from "./settings.ts"

/** One model as a session will use it, with notes about how it was judged. */
export interface KnownModel {
  readonly model: StageModel
  readonly notes: readonly string[]
}

/**
 * Returns the model, probed unless a probe is cached; `asksAnew` probes it in any case. Everything that follows from
 * facts of the server is decided each time, because the server may have been started with other options since.
 */
export async function knownModel(
  room: ModelContext,
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
  const { rung, notes } = isKnownToCallTools(server, name) ? knownToWork : await probed(room, asked)
  const model: StageModel = {
    name,
    rung,
    editFormat: format.value,
    windowTokens: window.value,
    outputTokensMax: outputTokensMax(config, window.value),
  }
  return { model, notes: [...notes, window.note, format.note] }
}

const knownToWork: ModelProbe = { rung: "native", notes: ["native: known to work, not tried"] }

/** Returns the window of a model that only has to write text. */
export async function windowTokensOf(room: ModelContext, server: ModelServer, name: string): Promise<number> {
  const facts = await factsOf(room, server, name)
  return decideWindow(server.protocol, facts, room.config.model.parameters.context_window).value
}

interface ProbedModel {
  readonly server: ModelServer
  readonly name: string
  readonly facts: ModelFacts
  readonly windowTokens: number
  readonly asksAnew: boolean
}

async function probed(room: ModelContext, asked: ProbedModel): Promise<ModelProbe> {
  const { config, environment, signal, notice } = room
  const { server, name, facts, windowTokens, asksAnew } = asked
  const key = probeKey(server.endpoint, name, facts, version)
  const store = probeStore(environment.xdgCacheHome)
  const cached = asksAnew ? null : store.read(key)
  if (cached !== null) return cached
  notice(`probing what ${name} can do, once; loading a model may take a while`)
  const settings = modelSettings(config, {
    name,
    windowTokens,
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
  trainedTokens: null,
  loadedTokens: null,
  declaresTools: null,
  parameters: null,
  digest: null,
}

async function factsOf(
  { config, signal }: ModelContext,
  server: ModelServer,
  name: string,
): Promise<ModelFacts> {
  const answered = await server.facts(name, queryLimits(config), signal)
  if (answered.failure === undefined) return answered.value
  // A server need not report facts about a model; the first request shows whether it has the model.
  if (answered.failure.kind === "notFound") return noFacts
  throw serverProblem(answered.failure, server.endpoint)
}

/** Reports whether a model is one of the company's own; other servers only speak its protocol. */
function isKnownToCallTools({ protocol }: ModelServer, name: string): boolean {
  return protocolTable[protocol].ownModels?.test(name) === true
}
