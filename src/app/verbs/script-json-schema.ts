import { toJSONSchema } from "zod/mini"
import { ScriptFile } from "../../provider/script/script-schema.ts"

/** For an editor: how `--script FILE` is written. */
export function scriptJsonSchema(): Record<string, unknown> {
  const schema = toJSONSchema(ScriptFile(), { target: "draft-2020-12", io: "input" })
  return { ...schema, title: "acode script" }
}
