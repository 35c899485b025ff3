import * as z from "zod/mini"

/** For the JSON Schema that people read. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(z.describe(description))
}
