import type { Protocol } from "../../domain/model-choice.ts"
import type { ListedModel } from "../../provider/server.ts"
import type { Config } from "../config-schema.ts"
import type { NamedModel } from "./named-model.ts"
import { roleNames } from "./tier.ts"

export type WantedName = Pick<NamedModel, "name" | "written">

/** The models that are wanted by name. `--model` is for all stages; without it each may have its own. */
export function wantedNames(
  config: Pick<Config, "model" | "models">,
  named: NamedModel | null,
): readonly WantedName[] {
  if (named !== null) return [named]
  return Object.values(roleNames(config)).flatMap(name => (name === null ? [] : [{ name, written: name }]))
}

/** The name of a model as its server knows it; null when it is not there. */
export function listedName(
  { name, written }: WantedName,
  models: readonly ListedModel[],
  protocol: Protocol,
): string | null {
  const listed = (wanted: string) => models.find(model => isSameName(model.name, wanted, protocol))?.name
  return listed(name) ?? listed(written) ?? null
}

function isSameName(there: string, wanted: string, protocol: Protocol): boolean {
  return protocol === "ollama" ? fullName(there) === fullName(wanted) : there === wanted
}

/** Ollama knows a model without a tag as the one tagged latest, and does not look at the case. */
function fullName(name: string): string {
  const lower = name.toLowerCase()
  return lower.lastIndexOf(":") > lower.lastIndexOf("/") ? lower : `${lower}:latest`
}
