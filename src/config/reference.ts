import type { Json } from "../base/canonical.ts"
import { configJsonSchema, type JsonSchema } from "./json-schema.ts"
import { defaultLeaves } from "./keys.ts"
import { type NeedsTrust, needsTrust } from "./merge.ts"

/** One key, as the documentation lists it. */
export interface ConfigKey {
  readonly key: string
  /** The allowed values in words: `a whole number from 1 to 16`. */
  readonly type: string
  readonly default: Json
  readonly description: string
  readonly needsTrust: NeedsTrust
}

/** Lists every key in the order of the documentation. Pure. */
export function listConfigKeys(): readonly ConfigKey[] {
  const root = rootSchema()
  return [...defaultLeaves].map(([key, value]) => {
    const schema = schemaAt(root, key.split("."))
    const type = describeType(schema)
    return {
      key,
      // A plain string is described by its key, whose description is listed beside it.
      type: type === schema?.description ? "text" : type,
      default: value,
      description: schema?.description ?? "",
      needsTrust: needsTrust(key),
    }
  })
}

/** Returns in words which values are allowed at a path of the file, list entries included. */
export function allowedAt(path: readonly (string | number)[]): string {
  return describeType(schemaAt(rootSchema(), path))
}

/** Returns the names that a map at this path may contain. */
export function namesAt(path: readonly (string | number)[]): readonly string[] {
  return Object.keys(schemaAt(rootSchema(), path)?.properties ?? {})
}

/** Returns how the command line gives the value of a key. */
export function valueKind(key: string): "text" | "list" | "other" {
  const schema = schemaAt(rootSchema(), key.split("."))
  if (schema?.type === "array") return "list"
  return schema?.type === "string" ? "text" : "other"
}

let known: JsonSchema | null = null

/** Returns the schema, made once and only when a problem or a key is described: loading a valid file needs none. */
function rootSchema(): JsonSchema {
  known ??= configJsonSchema()
  return known
}

function schemaAt(root: JsonSchema, path: readonly (string | number)[]): JsonSchema | null {
  let schema: JsonSchema | undefined = root
  for (const part of path)
    schema =
      typeof part === "number"
        ? schema?.items
        : Object.hasOwn(schema?.properties ?? {}, part)
          ? schema?.properties?.[part]
          : undefined
  return schema ?? null
}

function describeType(schema: JsonSchema | null): string {
  if (schema === null) return "nothing"
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.join(", ")
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeType).join(" or ")
  return describePlainType(schema)
}

function describePlainType(schema: JsonSchema): string {
  switch (schema.type) {
    case "integer":
      return `a whole number ${range(schema)}`
    case "number":
      return `a number ${range(schema)}`
    case "boolean":
      return "true or false"
    case "string":
      return schema.description ?? "text"
    case "array":
      return `a list of at most ${schema.maxItems} entries, each ${describeType(schema.items ?? null)}`
    case "object":
      return `a section with ${Object.keys(schema.properties ?? {}).join(", ")}`
    case "null":
      return "null"
    default:
      return schema.type ?? "anything"
  }
}

function range({ minimum, maximum }: JsonSchema): string {
  return `from ${minimum} to ${maximum}`
}
