import { type EditFormat, type Protocol, windowRules } from "../../domain/model-choice.ts"
import { protocolTable } from "../protocol.ts"
import type { ModelFacts } from "../server.ts"

interface Decided<Value> {
  readonly value: Value
  /** The reason, for display. */
  readonly note: string
}

/** The window to request by default: enough to work, and it fits beside a model of middle size. */
const pinnedTokens = 16_384

/** The window to assume when neither the server nor the user states one. */
const assumedTokens = 8_192

/**
 * Returns how many tokens a request and its reply may take together. The trained window only ever reduces it: servers
 * load far less, and silently cut off the beginning of longer requests.
 */
export function decideWindow(
  protocol: Protocol,
  { loadedTokens, trainedTokens }: Pick<ModelFacts, "loadedTokens" | "trainedTokens">,
  configured: number | null,
): Decided<number> {
  const [loaded, trained] = [positive(loadedTokens), positive(trainedTokens)]
  if (windowRules[protocol] === "requested") return pinnedWindow(loaded, trained, configured)
  if (loaded !== null)
    return configured !== null && configured < loaded
      ? decided(configured, "configured")
      : decided(loaded, loadedWith)
  if (configured !== null) return decided(configured, "configured")
  if (trained !== null && trained < assumedTokens) return decided(trained, trainedFor)
  return decided(
    assumedTokens,
    "assumed, for the server does not say what is loaded; configure it if it is more",
  )
}

/**
 * Returns the window to request. Ollama loads a model again with it, so the window that another program loaded is never
 * too small.
 */
function pinnedWindow(
  loaded: number | null,
  trained: number | null,
  configured: number | null,
): Decided<number> {
  const wanted = configured ?? pinnedTokens
  const requested = trained === null ? wanted : Math.min(trained, wanted)
  // A larger loaded window costs nothing.
  if (configured === null && loaded !== null && loaded >= requested) return decided(loaded, loadedWith)
  if (requested < wanted) return decided(requested, trainedFor)
  return decided(
    requested,
    configured === null ? "acode asks for that" : "configured, and acode asks for that",
  )
}

const loadedWith = "the server has it loaded with that"
const trainedFor = "the model was trained for no more"

function decided(value: number, why: string): Decided<number> {
  return { value, note: `window: ${value} tokens (${why})` }
}

function positive(count: number | null): number | null {
  return count !== null && count > 0 ? count : null
}

/** Billions of parameters. Below the first, models do not copy the text to be replaced exactly. */
const replaceFrom = 4
const surelyReplaceFrom = 15
const smallWindow = 8_192

/**
 * Families that were trained to write patches with context lines: OpenAI's from GPT-4.1 on, its reasoning models and
 * its open weights. Small ones have a marker in their names.
 */
const writesPatches = /(?:^|\/)(?:gpt-(?:4\.1|[5-9]|oss)|o[34](?:-|$)|codex)(?!.*(?:nano|mini))/i

/** Facts about a model that decide its edit format. */
export interface EditingModel {
  readonly protocol: Protocol
  readonly name: string
  /** Billions of parameters; null where the server does not report them. */
  readonly parameters: number | null
  readonly windowTokens: number
}

/**
 * Returns how a model is to edit files. Every model can write whole files. Search and replace is shorter, needs exact
 * copies of the old text, and suits most larger models best. Diffs are for models that were trained for them.
 */
export function decideEditFormat(model: EditingModel, requested: EditFormat | "auto"): Decided<EditFormat> {
  if (requested !== "auto") return formatDecided(requested, "configured")
  const { protocol, name, parameters, windowTokens } = model
  if (protocolTable[protocol].hasOnlyLargeModels)
    return formatDecided("replace", "models of this protocol are large")
  if (parameters !== null && parameters < replaceFrom)
    return formatDecided("whole", `${parameters} thousand million parameters are few`)
  if (writesPatches.test(name)) return formatDecided("diff", "models of this name are made for it")
  if (parameters !== null && parameters >= surelyReplaceFrom)
    return formatDecided("replace", `${parameters} thousand million parameters are enough`)
  if (windowTokens <= smallWindow)
    return formatDecided("whole", "the window is small, which goes with files that are")
  return formatDecided(
    "replace",
    parameters === null ? "the size of the model is not known" : "of middle size",
  )
}

function formatDecided(value: EditFormat, why: string): Decided<EditFormat> {
  return { value, note: `edit format: ${value} (${why})` }
}
