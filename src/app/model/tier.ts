import type { Stage } from "../../domain/pipeline/stage.ts"
import type { Config } from "../config-schema.ts"

/** The model a name stands for: that of a tier which is configured, else the name itself. */
export function modelNamed(name: string, { tiers }: Config["models"]): string {
  return Object.entries(tiers).find(([tier]) => tier === name)?.[1] ?? name
}

/** The models of the stages by name; null where nobody names one. */
export function roleNames({ model, models }: Pick<Config, "model" | "models">): RoleNames {
  const nameOf = (stage: Stage) => {
    const name = models[stage] ?? model.name
    return name === null ? null : modelNamed(name, models)
  }
  return {
    planner: nameOf("planner"),
    executor: nameOf("executor"),
    verifier: nameOf("verifier"),
    reviewer: nameOf("reviewer"),
  }
}

export type RoleNames = Readonly<Record<Stage, string | null>>
