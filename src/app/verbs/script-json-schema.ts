import { toJSONSchema } from "zod/mini"
import { ScriptFile } from "../../provider/script/script-schema.ts"

/** Returns the JSON schema of a `--script FILE`, for editors. */
export function scriptJsonSchema(): Record<string, unknown> {
  const schema = toJSONSchema(ScriptFile(), { target: "draft-2020-12", io: "input" })
  return { ...schema, title: "acode script" }
}
