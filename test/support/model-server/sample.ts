import type { Json } from "../../../src/base/canonical.ts"
import { at, isObject, listAt, textAt } from "./json.ts"

/** Returns a value that a JSON Schema accepts, for the schemas that are used here. */
export function sample(schema: Json): Json {
  const fixed = at(schema, "const") ?? listAt(schema, "enum")[0]
  if (fixed !== undefined && fixed !== null) return fixed
  const choice = listAt(schema, "anyOf")[0] ?? listAt(schema, "oneOf")[0]
  if (choice !== undefined) return sample(choice)
  switch (textAt(schema, "type")) {
    case "object":
      return sampleObject(schema)
    case "array":
      return typeof at(schema, "minItems") === "number" ? [sample(at(schema, "items"))] : []
    case "string":
      return "ok"
    case "integer":
    case "number":
      return at(schema, "minimum") ?? 1
    case "boolean":
      return true
    default:
      return isObject(at(schema, "properties")) ? sampleObject(schema) : null
  }
}

function sampleObject(schema: Json): Json {
  const names = listAt(schema, "required").filter(name => typeof name === "string")
  return Object.fromEntries(names.map(name => [name, sample(at(schema, "properties", name))]))
}
