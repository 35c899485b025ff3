import { oneLine } from "../../base/text.ts"
import type { ModelFailure } from "../contract.ts"
import { modelFailure } from "../failures.ts"

/**
 * Whether a server hands requests for this model on to ollama.com by its name alone, without having it. Such a model
 * looks local and is not, and nobody consented to where it runs.
 */
export function isCloudName(model: string): boolean {
  const tag = model.trim().toLowerCase().split(":").at(-1) ?? ""
  return model.includes(":") && !tag.includes("/") && (tag === "cloud" || tag.endsWith("-cloud"))
}

export function refusedCloud(model: string, host: string): ModelFailure {
  return modelFailure(
    "badRequest",
    `the model ${oneLine(model, 100)} does not run on this server but at ${oneLine(host, 100)}, ` +
      "which nobody consented to; choose one that the server runs itself",
  )
}
