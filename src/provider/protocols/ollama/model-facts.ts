import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelFailure } from "../../contract.ts"
import { type JsonObject, listAt, objectOf, unreadable } from "../../fields.ts"
import { modelFailure } from "../../reply-fault.ts"
import type { ListedModel, ModelFacts } from "../../server.ts"

const modelsMax = 1000
const nameMax = 256

/** Combines `/api/tags` with `/api/ps`, which lists loaded models; null when that could not be read. */
export function listedModels(tags: Json, loaded: Json): readonly ListedModel[] {
  const running = loaded === null ? null : new Set(entriesOf(loaded).map(nameOf))
  return entriesOf(tags).flatMap(entry => {
    const name = nameOf(entry)
    if (name === "") return []
    return [{ name, details: detailsOf(entry), isLoaded: running === null ? null : running.has(name) }]
  })
}

/** Combines `/api/show` with the two lists; they are null when they could not be read. */
export function modelFacts(model: string, show: Json, tags: Json, loaded: Json): ModelFacts {
  const shown = objectOf(show)
  if (shown === null) throw unreadable("the server's description of the model is not an object")
  const running = loaded === null ? undefined : entryFor(model, loaded)
  return {
    trainedTokens: trainedTokens(objectOf(shown["model_info"])),
    loadedTokens: positive(running?.["context_length"]),
    declaresTools: declaresTools(shown["capabilities"] ?? null),
    parameters: parametersOf(shown),
    digest: tags === null ? null : shortText(entryFor(model, tags)?.["digest"]),
  }
}

/** Returns the host that requests for the model are forwarded to; null when the server runs it itself. */
export function remoteHost(show: Json): string | null {
  return shortText(objectOf(show)?.["remote_host"])
}

function entriesOf(list: Json): readonly JsonObject[] {
  const object = objectOf(list)
  if (object === null) throw unreadable("the server's list of models is not an object")
  return listAt(object, "models")
    .slice(0, modelsMax)
    .map(entry => objectOf(entry))
    .filter(entry => entry !== null)
}

function entryFor(model: string, list: Json): JsonObject | undefined {
  return entriesOf(list).find(entry => fullName(nameOf(entry)) === fullName(model))
}

/** Adds the tag `latest` to a name without a tag; the case of names does not matter. */
function fullName(name: string): string {
  const lower = name.toLowerCase()
  return lower.lastIndexOf(":") > lower.lastIndexOf("/") ? lower : `${lower}:latest`
}

function nameOf(entry: JsonObject): string {
  return shortText(entry["name"]) ?? shortText(entry["model"]) ?? ""
}

function detailsOf(entry: JsonObject): string {
  const details = objectOf(entry["details"])
  const size = positive(entry["size"])
  const host = shortText(entry["remote_host"])
  const parts = [
    shortText(details?.["parameter_size"]),
    shortText(details?.["quantization_level"]),
    size === null || host !== null ? null : `${(size / 1e9).toFixed(1)} GB`,
    host === null ? null : `runs at ${host}`,
  ]
  return oneLine(parts.filter(part => part !== null).join(", "), nameMax)
}

/** Reads the window, which is stored under the name of the architecture: `qwen2.context_length`. */
function trainedTokens(known: JsonObject | null): number | null {
  if (known === null) return null
  const architecture = shortText(known["general.architecture"])
  const own = architecture === null ? null : positive(known[`${architecture}.context_length`])
  if (own !== null) return own
  const name = Object.keys(known).find(key => key.endsWith(".context_length"))
  return name === undefined ? null : positive(known[name])
}

/** Returns null for servers before 0.6.4, which do not report it. */
function declaresTools(capabilities: Json): boolean | null {
  return Array.isArray(capabilities) ? capabilities.includes("tools") : null
}

function parametersOf(shown: JsonObject): number | null {
  const size = shortText(objectOf(shown["details"])?.["parameter_size"])
  const [, digits = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,6})?)([KMBT])$/i.exec(size ?? "") ?? []
  if (digits !== "") return Number(digits) * (billions[unit.toUpperCase()] ?? 1)
  const count = positive(objectOf(shown["model_info"])?.["general.parameter_count"])
  return count === null ? null : count / 1e9
}

const billions: Readonly<Record<string, number>> = { K: 1e-6, M: 1e-3, B: 1, T: 1e3 }

/** Returns null for zero, by which a server says that it does not know. */
function positive(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null
}

function shortText(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" && value.length <= nameMax ? value : null
}

/**
 * Reports whether a server forwards requests for this model to ollama.com by its name alone, without having it. Such a
 * model looks local and is not, and the user did not consent to where it runs.
 */
export function isCloudName(model: string): boolean {
  const tag = model.trim().toLowerCase().split(":").at(-1) ?? ""
  return model.includes(":") && !tag.includes("/") && (tag === "cloud" || tag.endsWith("-cloud"))
}

export function refusedCloud(model: string, host: string): ModelFailure {
  return modelFailure(
    "badRequest",
    `the model ${oneLine(model, 100)} does not run on this server but at ${oneLine(host, 100)}, ` +
      "to which you have not consented; choose one that the server runs itself",
  )
}
