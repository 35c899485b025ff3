import type { Json } from "../../base/canonical.ts"

type Members = { readonly [key: string]: Json }

/** Deeper shapes cost more tokens than they help. */
const depthMax = 12

/** A JSON Schema as models read it best and shortest: `{path: string, depth?: integer}`. Limits are left out. */
export function schemaText(schema: Json, depth = 0): string {
  if (!isMembers(schema) || depth > depthMax) return "any"
  const { const: only, enum: values, anyOf, oneOf, type } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (isList(values)) return values.map(value => JSON.stringify(value)).join(" | ")
  const choices = anyOf ?? oneOf
  if (isList(choices)) return choices.map(choice => schemaText(choice, depth + 1)).join(" | ")
  if (isList(type)) return type.map(each => schemaText({ ...schema, type: each }, depth + 1)).join(" | ")
  if (type === "array") return listText(schemaText(schema["items"] ?? null, depth + 1))
  if (type === "object") return objectText(schema, depth)
  return typeof type === "string" ? type : "any"
}

function listText(item: string): string {
  return item.includes(" | ") ? `(${item})[]` : `${item}[]`
}

function objectText({ properties, required }: Members, depth: number): string {
  if (!isMembers(properties)) return "object"
  const needed = isList(required) ? required : []
  const members = Object.entries(properties).map(
    ([name, schema]) => `${name}${needed.includes(name) ? "" : "?"}: ${schemaText(schema, depth + 1)}`,
  )
  return `{${members.join(", ")}}`
}

function isMembers(value: Json | undefined): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
