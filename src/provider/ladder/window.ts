import { type EditFormat, type Protocol, windowRules } from "../../domain/model-choice.ts"
import { protocolTable } from "../protocol.ts"
import type { ModelFacts } from "../server.ts"

interface Decided<Value> {
  readonly value: Value
  /** Where it comes from, for a person to read. */
  readonly note: string
}

/** What Ollama is asked for when nobody says more: enough to work, and fits beside a model of middle size. */
const pinnedTokens = 16_384

/** What can be hoped for where nobody says anything. */
const assumedTokens = 8_192

/**
 * How much a request and its reply may take together. What a model was trained for only ever makes it smaller: servers
 * load far less, and cut off the beginning of longer requests without a word.
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

/** Ollama loads a model anew with what is asked for, so what another program loaded it with is never too little. */
function pinnedWindow(
  loaded: number | null,
  trained: number | null,
  configured: number | null,
): Decided<number> {
  const wanted = configured ?? pinnedTokens
  const asked = trained === null ? wanted : Math.min(trained, wanted)
  // More than that costs nothing where it is there already.
  if (configured === null && loaded !== null && loaded >= asked) return decided(loaded, loadedWith)
  if (asked < wanted) return decided(asked, trainedFor)
  return decided(asked, configured === null ? "acode asks for that" : "configured, and acode asks for that")
}

const loadedWith = "the server has it loaded with that"
const trainedFor = "the model was trained for no more"

function decided(value: number, why: string): Decided<number> {
  return { value, note: `window: ${value} tokens (${why})` }
}

function positive(count: number | null): number | null {
  return count !== null && count > 0 ? count : null
}

/** In thousands of millions of parameters. Below the first, models do not copy the text to be replaced exactly. */
const replaceFrom = 4
const surelyReplaceFrom = 15
const smallWindow = 8_192

/**
 * Families that were trained to write patches with the lines around a change: OpenAI's from GPT-4.1 on, its reasoning
 * models and its open weights. Small ones of them say that they are.
 */
const writesPatches = /(?:^|\/)(?:gpt-(?:4\.1|[5-9]|oss)|o[34](?:-|$)|codex)(?!.*(?:nano|mini))/i

/** What is known about a model whose way to edit is to be chosen. */
export interface EditingModel {
  readonly protocol: Protocol
  readonly name: string
  /** In thousands of millions; null where the server does not tell. */
  readonly parameters: number | null
  readonly windowTokens: number
}

/**
 * How a model is to edit files. Whole files are what every model can do. Search and replace is shorter, needs exact
 * copies of what is there, and is what most larger models do best. Diffs are for those that were made for them.
 */
export function decideEditFormat(model: EditingModel, asked: EditFormat | "auto"): Decided<EditFormat> {
  if (asked !== "auto") return formatDecided(asked, "configured")
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
