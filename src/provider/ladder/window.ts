import type { Protocol } from "../../domain/model-choice.ts"
import type { ModelFacts } from "../server.ts"

export interface Decided<Value> {
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
  if (protocol === "ollama") return pinnedWindow(loaded, trained, configured)
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
