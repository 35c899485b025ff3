import { oneLine } from "../base/text.ts"
import type { Config } from "../config/schema.ts"
import { Failure } from "../domain/failure.ts"
import { type Protocol, protocols } from "../domain/model-choice.ts"
import type { Stage } from "../domain/stage.ts"
import { protocolTable } from "../provider/protocol.ts"
import type { ListedModel } from "../provider/server.ts"

export type WantedName = Pick<NamedModel, "name" | "written">

/** Returns the models that are wanted by name. `--model` applies to all stages; without it each may have its own. */
export function wantedNames(
  config: Pick<Config, "model" | "models">,
  named: NamedModel | null,
): readonly WantedName[] {
  if (named !== null) return [named]
  return Object.values(roleNames(config)).flatMap(name => (name === null ? [] : [{ name, written: name }]))
}

/** Returns the name of a model as its server knows it; null when the server does not have it. */
export function listedName(
  { name, written }: WantedName,
  models: readonly ListedModel[],
  protocol: Protocol,
): string | null {
  const listed = (wanted: string) => models.find(model => isSameName(model.name, wanted, protocol))?.name
  return listed(name) ?? listed(written) ?? null
}

function isSameName(there: string, wanted: string, protocol: Protocol): boolean {
  const { normalName } = protocolTable[protocol]
  return normalName(there) === normalName(wanted)
}

/** The parsed value of `--model`. */
export interface NamedModel {
  /** Null when only a name was given. */
  readonly provider: Protocol | null
  readonly name: string
  /** The value as written: some servers have models whose names begin like a provider's. */
  readonly written: string
}

/** Parses NAME or PROVIDER/NAME. A name may contain slashes. */
export function readNamedModel(written: string): NamedModel {
  const slash = written.indexOf("/")
  const provider = protocols.find(protocol => protocol === written.slice(0, slash)) ?? null
  const name = provider === null ? written : written.slice(slash + 1)
  if (!/^[\x21-\x7e]{1,200}$/.test(name))
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-002",
      message: `--model ${oneLine(JSON.stringify(written), 80)} is not the name of a model`,
      where: "--model",
      hint: `write NAME or PROVIDER/NAME, where PROVIDER is ${protocols.slice(0, -1).join(", ")} or ${protocols.at(-1)}; \`acode models list\` shows names`,
    })
  return { provider, name, written }
}

/** Resolves a tier to the model configured for it; other names stay the same. */
export function resolveModelName(name: string, { tiers }: Config["models"]): string {
  return Object.entries(tiers).find(([tier]) => tier === name)?.[1] ?? name
}

/** Returns the models of the stages by name; null where none is named. */
export function roleNames({ model, models }: Pick<Config, "model" | "models">): RoleNames {
  const nameOf = (stage: Stage) => {
    const name = models[stage] ?? model.name
    return name === null ? null : resolveModelName(name, models)
  }
  return {
    planner: nameOf("planner"),
    executor: nameOf("executor"),
    verifier: nameOf("verifier"),
    reviewer: nameOf("reviewer"),
  }
}

type RoleNames = Readonly<Record<Stage, string | null>>

/**
 * Reports whether a model can be used: models that only turn text into numbers cannot answer, and cloud models do not
 * run on this machine.
 */
export function isUsable({ name }: Pick<ListedModel, "name">): boolean {
  return !/embed|rerank|(^|[/-])(bge|e5|gte|minilm)\b/i.test(name) && !/:(?:[^/:]*-)?cloud$/i.test(name)
}
