import type { FoundServer } from "./found-server.ts"
import { listedName, type WantedName } from "./model-name.ts"
import { noSuchModel } from "./model-problem.ts"
import { isUsable } from "./usable-model.ts"

export interface ChosenName {
  readonly name: string
  /** Why it was taken when nobody named it; null when somebody did. */
  readonly why: string | null
}

/** What `--model` says, else what is wanted by its name, else any. */
export function chosenModel(found: FoundServer, wanted: string | null): ChosenName {
  if (found.named !== null) return namedModel(found.named, found)
  return wanted === null ? anyModel(found) : namedModel({ name: wanted, written: wanted }, found)
}

/** The name of a model as the server knows it. Throws ACODE-MODEL-007 with what is there. */
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

/** One for a person who named none: what is loaded answers soonest. Never on a server elsewhere, where it costs. */
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
