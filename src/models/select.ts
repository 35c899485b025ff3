import type { Config } from "../config/schema.ts"
import type { ModelSelection, StageModel } from "../domain/pipeline-settings.ts"
import { type Stage, stages } from "../domain/stage.ts"
import { isUsable, listedName, roleNames, type WantedName } from "./name.ts"
import { noSuchModel } from "./problem.ts"
import type { FoundServer, ModelContext } from "./server.ts"
import { knownModel } from "./stage-model.ts"

/** Selects the models of a session from the server and the configuration. Throws a Failure. */
export async function selectModels(room: ModelContext, found: FoundServer): Promise<ModelSelection> {
  const { server, consentBy } = found
  printConsent(room, found)
  const names = namesFor(room.config, found)
  printChoice(room, found, names)
  const models = new Map<string, StageModel>()
  // One after the other: a server that has to load two models at once may not have the memory for either.
  for (const { name } of Object.values(names))
    if (!models.has(name)) models.set(name, (await knownModel(room, server, name, false)).model)
  const modelOf = (stage: Stage): StageModel => {
    const model = models.get(names[stage].name)
    if (model === undefined) throw new Error(`no model was made ready for the ${stage}`)
    return model
  }
  return {
    protocol: server.protocol,
    endpoint: server.endpoint,
    consentBy,
    planner: modelOf("planner"),
    executor: modelOf("executor"),
    verifier: modelOf("verifier"),
    reviewer: modelOf("reviewer"),
  }
}

type Names = Readonly<Record<Stage, ChosenName>>

/** Returns the models of the stages. `--model` applies to all stages; without it each may have its own. */
function namesFor(config: Config, found: FoundServer): Names {
  const roles = roleNames(config)
  return {
    planner: chosenModel(found, roles.planner),
    executor: chosenModel(found, roles.executor),
    verifier: chosenModel(found, roles.verifier),
    reviewer: chosenModel(found, roles.reviewer),
  }
}

/**
 * Prints what leaves this machine and where it goes, so that a user who typed the mode by mistake sees it before
 * anything has left.
 */
function printConsent({ notice }: ModelContext, { server, consentBy }: FoundServer): void {
  if (consentBy === null) return
  notice(
    `burst: prompts and snippets of this workspace, redacted, leave this machine for ${server.protocol} at ` +
      `${server.endpoint}, as ${consentBy} agreed for this session`,
  )
}

/** Prints a choice that the user did not make. */
function printChoice({ notice }: ModelContext, { server }: FoundServer, names: Names): void {
  const unnamed = stages.map(stage => names[stage]).find(({ why }) => why !== null)
  if (unnamed !== undefined) notice(`model ${unnamed.name} at ${server.endpoint}: ${unnamed.why}`)
}

export interface ChosenName {
  readonly name: string
  /** The reason for choosing a model that was not named; null when it was. */
  readonly why: string | null
}

/** Chooses the model of `--model`, else the configured one, else any. */
export function chosenModel(found: FoundServer, wanted: string | null): ChosenName {
  if (found.named !== null) return namedModel(found.named, found)
  return wanted === null ? anyModel(found) : namedModel({ name: wanted, written: wanted }, found)
}

/** Returns the name of a model as the server knows it. Throws ACODE-MODEL-007, which lists the available models. */
export function namedModel(wanted: WantedName, { models, server }: FoundServer): ChosenName {
  if (models === null) return { name: wanted.name, why: null }
  const name = listedName(wanted, models, server.protocol)
  if (name !== null) return { name, why: null }
  throw noSuchModel(
    wanted.written,
    models.map(each => each.name),
    server.endpoint,
  )
}

/**
 * Chooses a model when none is named: a loaded one answers soonest. Never on a server elsewhere, where it costs money.
 */
export function anyModel({ models, server, endpoint }: FoundServer): ChosenName {
  const usable = (models ?? []).filter(isUsable)
  const loaded = usable.find(({ isLoaded }) => isLoaded === true)
  const [first] = usable
  if (first === undefined || !endpoint.isLocal)
    throw noSuchModel(
      null,
      usable.map(({ name }) => name),
      server.endpoint,
    )
  if (usable.length === 1) return { name: first.name, why: "the only one there" }
  if (loaded !== undefined) return { name: loaded.name, why: "it is loaded there" }
  return { name: first.name, why: `the first of ${usable.length} there; --model names another one` }
}
