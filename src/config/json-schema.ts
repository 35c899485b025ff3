import { z } from "zod"
import type { Json } from "../base/canonical.ts"
import { ConfigFile } from "./schema.ts"

/** JSON Schema 2020-12 of a configuration file, with descriptions and defaults: what `acode schema config` prints. */
export function configJsonSchema(): JsonSchema {
  // Input side: in a file every key but the version may be left out.
  const schema = z.toJSONSchema(ConfigFile, { target: "draft-2020-12", io: "input" })
  // Zod's type knows every JSON Schema there could be; our schemas use the part that is declared below.
  return { ...(schema as JsonSchema), title: "acode configuration" }
}

/** The part of JSON Schema our own schemas use. */
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
