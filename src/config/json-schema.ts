import { z } from "zod"
import type { Json } from "../base/canonical.ts"
import { ConfigFile } from "./schema.ts"

/** Returns the JSON Schema 2020-12 of a configuration file, which `acode schema config` prints. */
export function configJsonSchema(): JsonSchema {
  // The input side of the schema: a file may leave out every key but the version.
  const schema = z.toJSONSchema(ConfigFile, { target: "draft-2020-12", io: "input" })
  // Zod's type covers all of JSON Schema; our schemas use the part that is declared below.
  return { ...(schema as JsonSchema), title: "acode configuration" }
}

/** The part of JSON Schema that the schemas of acode use. */
export interface JsonSchema {
  readonly $schema?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly default?: Json
  readonly const?: Json
  readonly enum?: readonly Json[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
}
