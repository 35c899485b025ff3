import { canonicalJson, type Json, sha256Hex } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import { type JsonObject, listOf, nonEmptyText, objectOf, windowOf } from "../../fields.ts"
import type { ListedModel, ModelFacts } from "../../server.ts"

/** An entry of `/v1/models`, with LM Studio's own data about the model. */
export interface ListedOpenAiModel {
  readonly name: string
  readonly entry: JsonObject
  readonly studio: JsonObject | null
}

const modelsMax = 1000
const nameMax = 300

/** Returns null when the answer is not a list of models. */
export function openAiModels(body: Json, studioBody: Json | null): readonly ListedOpenAiModel[] | null {
  const list = objectOf(body)?.["data"]
  if (!Array.isArray(list)) return null
  const studio = named(studioBody)
  const names = new Map(named(body).map(known => [known.name, known.entry]))
  return [...names].map(([name, entry]) => ({ name, entry, studio: entryOf(studio, name) }))
}

/** Reports whether the answer has all facts, so that LM Studio's own list is not needed. */
export function hasAllFacts(body: Json): boolean {
  return named(body).some(
    ({ entry }) => entry["max_model_len"] !== undefined || objectOf(entry["meta"]) !== null,
  )
}

/** Returns the models to list; models that turn text into numbers are left out. */
export function listed(models: readonly ListedOpenAiModel[]): readonly ListedModel[] {
  return models
    .filter(({ studio }) => studio?.["type"] !== "embeddings")
    .map(known => ({ name: known.name, details: detailsOf(known), isLoaded: isLoaded(known) }))
}

/** Returns the facts about a model; `props` is llama.cpp's own page. */
export function factsOf(models: readonly ListedOpenAiModel[], model: string, props: Json | null): ModelFacts {
  const known = find(models, model)
  const meta = objectOf(known?.entry["meta"])
  const studio = known?.studio ?? null
  const page = objectOf(props)
  const generation = objectOf(page?.["default_generation_settings"])
  return {
    trainedTokens: windowOf(meta?.["n_ctx_train"]) ?? windowOf(studio?.["max_context_length"]),
    loadedTokens:
      windowOf(generation?.["n_ctx"]) ??
      windowOf(meta?.["n_ctx"]) ??
      windowOf(known?.entry["max_model_len"]) ??
      windowOf(studio?.["loaded_context_length"]),
    declaresTools: declaredTools(page, studio),
    parameters: billionsOf(meta),
    digest: digestOf(known, page),
  }
}

/**
 * Returns a digest. None of these servers reports one, and many have another model under the same name after a restart.
 * It is made of what they report about the content and the template; windows, states and times change without it.
 */
function digestOf(known: ListedOpenAiModel | null, page: JsonObject | null): string | null {
  const values = [
    ...plainValues(objectOf(known?.entry["meta"]), [
      "n_params",
      "size",
      "n_vocab",
      "n_embd",
      "n_ctx_train",
      "ftype",
    ]),
    ...plainValues(known?.entry ?? null, ["root"]),
    ...plainValues(known?.studio ?? null, ["publisher", "arch", "quantization", "compatibility_type"]),
    ...plainValues(page, ["model_path", "chat_template", "chat_template_tool_use"]),
  ]
  return values.every(value => value === null) ? null : sha256Hex(canonicalJson(values))
}

/** Returns texts and numbers. A server may write anything there; other values cannot be compared. */
function plainValues(
  object: JsonObject | null,
  names: readonly string[],
): readonly (string | number | null)[] {
  return names.map(name => {
    const value = object?.[name]
    return typeof value === "string" || (typeof value === "number" && Number.isFinite(value)) ? value : null
  })
}

/** Finds a model by name. A llama.cpp server that has one model answers with it under every name. */
function find(models: readonly ListedOpenAiModel[], model: string): ListedOpenAiModel | null {
  const exact = models.find(({ name, entry }) => name === model || listOf(entry["aliases"]).includes(model))
  if (exact !== undefined) return exact
  const [only] = models
  return models.length === 1 && only?.entry["owned_by"] === "llamacpp" ? only : null
}

function declaredTools(page: JsonObject | null, studio: JsonObject | null): boolean | null {
  const caps = objectOf(page?.["chat_template_caps"])
  const tools = caps?.["supports_tools"]
  if (typeof tools === "boolean") return tools && caps?.["supports_tool_calls"] !== false
  const capabilities = studio?.["capabilities"]
  return Array.isArray(capabilities) ? listOf(capabilities).includes("tool_use") : null
}

function isLoaded({ entry, studio }: ListedOpenAiModel): boolean | null {
  const state = nonEmptyText(studio?.["state"]) ?? nonEmptyText(objectOf(entry["status"])?.["value"])
  if (state !== null) return state === "loaded"
  // Both list a model only once it is loaded.
  return entry["owned_by"] === "vllm" || entry["owned_by"] === "llamacpp" ? true : null
}

function detailsOf({ entry, studio }: ListedOpenAiModel): string {
  const meta = objectOf(entry["meta"])
  const billions = billionsOf(meta)
  const window =
    windowOf(studio?.["loaded_context_length"]) ??
    windowOf(entry["max_model_len"]) ??
    windowOf(meta?.["n_ctx"])
  const words = [
    billions === null ? null : `${billions.toFixed(1)}B`,
    nonEmptyText(studio?.["arch"]),
    nonEmptyText(studio?.["quantization"]) ?? nonEmptyText(meta?.["ftype"]),
    window === null ? null : `window ${window}`,
  ]
  return oneLine(words.filter(word => word !== null).join(", "), 200)
}

function billionsOf(meta: JsonObject | null): number | null {
  const parameters = meta?.["n_params"]
  if (typeof parameters !== "number" || !Number.isFinite(parameters) || parameters <= 0) return null
  return parameters / 1e9
}

function named(body: Json | null): readonly { readonly name: string; readonly entry: JsonObject }[] {
  return listOf(objectOf(body ?? undefined)?.["data"])
    .slice(0, modelsMax)
    .flatMap(value => {
      const entry = objectOf(value)
      const name = nonEmptyText(entry?.["id"])
      return entry === null || name === null || name.length > nameMax ? [] : [{ name, entry }]
    })
}

function entryOf(models: ReturnType<typeof named>, wanted: string): JsonObject | null {
  return models.find(({ name }) => name === wanted)?.entry ?? null
}
