import type { Protocol } from "../../domain/model-choice.ts"
import type { FoundServer } from "./found-server.ts"
import { noSuchModel } from "./model-problem.ts"
import type { NamedModel } from "./named-model.ts"
import { isUsable } from "./usable-model.ts"

export interface ChosenName {
  readonly name: string
  /** Why it was taken when nobody named it; null when somebody did. */
  readonly why: string | null
}

/** The name of a model as the server knows it. Throws ACODE-MODEL-007 with what is there. */
export function namedModel(wanted: Pick<NamedModel, "name" | "written">, found: FoundServer): ChosenName {
  const { models, server } = found
  if (models === null) return { name: wanted.name, why: null }
  const names = models.map(({ name }) => name)
  const match = [wanted.name, wanted.written].flatMap(
    name => names.find(each => isSameName(each, name, server.protocol)) ?? [],
  )[0]
  if (match === undefined) throw noSuchModel(wanted.written, names, server.endpoint)
  return { name: match, why: null }
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

function isSameName(there: string, wanted: string, protocol: Protocol): boolean {
  return protocol === "ollama" ? fullName(there) === fullName(wanted) : there === wanted
}

/** Ollama knows a model without a tag as the one tagged latest, and does not look at the case. */
function fullName(name: string): string {
  const lower = name.toLowerCase()
  return lower.lastIndexOf(":") > lower.lastIndexOf("/") ? lower : `${lower}:latest`
}
