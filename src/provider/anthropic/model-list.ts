import type { Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { modelFailure } from "../failures.ts"
import { type JsonObject, objectOf, textOf, tokensOf } from "../fields.ts"
import { ReplyFault } from "../reply-fault.ts"
import type { ListedModel, ModelFacts } from "../server.ts"

/** Throws ReplyFault when it is no list of models. What has no name in it is left out. */
export function modelsIn(listing: Json): readonly ListedModel[] {
  return entriesOf(listing).flatMap(model => {
    const name = textOf(model["id"])
    if (name === null || name === "") return []
    const window = tokensOf(model["max_input_tokens"])
    const details = [textOf(model["display_name"]) ?? "", window === null ? "" : `${window} tokens`]
    const shown = details.filter(part => part !== "").join(", ")
    return [{ name, details: oneLine(shown, 120), isLoaded: null }]
  })
}

/** Null when the list has no such model. */
export function modelNamed(listing: Json, name: string): JsonObject | null {
  return entriesOf(listing).find(({ id }) => id === name) ?? null
}

/**
 * What is said about one model, or what all of the company's own have had so far: they call tools by themselves. A
 * server that only speaks the protocol has other models, whose window is whatever they were loaded with.
 */
export function factsIn(body: Json, name: string): ModelFacts {
  const isOwn = /^claude/i.test(name)
  const told = tokensOf(objectOf(body)?.["max_input_tokens"])
  const window = told === null || told === 0 ? (isOwn ? usualWindow : null) : told
  return {
    trainedTokens: window,
    loadedTokens: window,
    declaresTools: isOwn ? true : null,
    parameters: null,
    digest: null,
  }
}

/** As many as one page can have. */
export const modelsMax = 1_000
const usualWindow = 200_000

function entriesOf(listing: Json): readonly JsonObject[] {
  const data = objectOf(listing)?.["data"]
  if (!Array.isArray(data)) throw new ReplyFault(modelFailure("malformed", "the list of models is no list"))
  return data.slice(0, modelsMax).flatMap((entry: Json) => {
    const model = objectOf(entry)
    return model === null ? [] : [model]
  })
}
