import type { ModelSelection, StageModel } from "../../domain/pipeline/settings.ts"
import { type Stage, stages } from "../../domain/pipeline/stage.ts"
import type { Config } from "../config-schema.ts"
import { type ChosenName, chosenModel } from "./chosen-name.ts"
import type { FoundServer, ModelRoom } from "./found-server.ts"
import { knownModel } from "./stage-model.ts"
import { roleNames } from "./tier.ts"

/** From the server that was found and what a person configured to the models of a session. Throws a Failure. */
export async function selectModels(room: ModelRoom, found: FoundServer): Promise<ModelSelection> {
  const { server, consentBy } = found
  tellConsent(room, found)
  const names = namesFor(room.config, found)
  tellChoice(room, found, names)
  const models = new Map<string, StageModel>()
  // One after the other: a server that has to load two models at once may have room for neither.
  for (const { name } of Object.values(names))
    if (!models.has(name)) models.set(name, (await knownModel(room, server, name, false)).model)
  const modelOf = (stage: Stage): StageModel => {
    const model = models.get(names[stage].name)
    if (model === undefined) throw new Error(`no model was made ready for the ${stage}`)
    return model
  }
  return {
    ...{ protocol: server.protocol, endpoint: server.endpoint, consentBy },
    planner: modelOf("planner"),
    executor: modelOf("executor"),
    verifier: modelOf("verifier"),
    reviewer: modelOf("reviewer"),
  }
}

type Names = Readonly<Record<Stage, ChosenName>>

/** `--model` is for all stages; without it each may have its own. */
function namesFor(config: Config, found: FoundServer): Names {
  const roles = roleNames(config)
  return {
    planner: chosenModel(found, roles.planner),
    executor: chosenModel(found, roles.executor),
    verifier: chosenModel(found, roles.verifier),
    reviewer: chosenModel(found, roles.reviewer),
  }
}

/** What leaves, and to whom, in words: whoever typed it by mistake sees it before anything has left. */
function tellConsent({ notice }: ModelRoom, { server, consentBy }: FoundServer): void {
  if (consentBy === null) return
  notice(
    `burst: prompts and snippets of this workspace, redacted, leave this machine for ${server.protocol} at ` +
      `${server.endpoint}, as ${consentBy} agreed for this session`,
  )
}

/** Only what nobody named is told. */
function tellChoice({ notice }: ModelRoom, { server }: FoundServer, names: Names): void {
  const unnamed = stages.map(stage => names[stage]).find(({ why }) => why !== null)
  if (unnamed !== undefined) notice(`model ${unnamed.name} at ${server.endpoint}: ${unnamed.why}`)
}
