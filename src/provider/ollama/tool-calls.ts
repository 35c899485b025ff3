import type { Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { unusableArguments } from "../call-limits.ts"
import type { ModelCall, ModelItem } from "../contract.ts"
import { type JsonObject, objectAt, objectOf } from "../fields.ts"

/**
 * One call as an item. What only the model got wrong is a problem that it can be told; the server's own ids are left
 * aside, for they differ from version to version and are missing in older ones.
 */
export function callItem(value: Json, id: string): ModelItem {
  const call = objectOf(value)
  const wanted = call === null ? null : objectAt(call, "function")
  const name = wanted?.["name"]
  if (wanted === null || typeof name !== "string" || name.trim() === "")
    return problem("a call of a tool names no tool")
  const args = argumentsOf(wanted)
  if (args === null) return problem(`the arguments of the call of ${oneLine(name, 80)} are no JSON object`)
  const unusable = unusableArguments(name, args)
  if (unusable !== null) return problem(unusable)
  const made: ModelCall = { id, tool: name, arguments: args }
  return { kind: "call", call: made }
}

/** Null when they are no object. Servers that only look like Ollama write them as text. */
function argumentsOf(wanted: JsonObject): JsonObject | null {
  const given = wanted["arguments"] ?? {}
  if (typeof given !== "string") return objectOf(given)
  try {
    return objectOf(JSON.parse(given))
  } catch {
    // The model is told that it is no object; where the parser gave up says nothing to it.
    return null
  }
}

function problem(text: string): ModelItem {
  return { kind: "problem", text }
}
