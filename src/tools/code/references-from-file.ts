import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { oneLine } from "../../base/text.ts"
import { stepActions } from "../../domain/plan/tool-traits.ts"
import type { Tool } from "../contract.ts"
import { callPath, pathEffects } from "../path-effects.ts"
import { preparedRead } from "../tool-result.ts"
import { referenceResult } from "./code-rows.ts"

const Arguments = lazily(() =>
  z.strictObject({ path: z.string().check(z.minLength(1)), name: z.string().check(z.minLength(1)) }),
)

export const referencesFromFileTool: Tool = {
  name: "references_from_file_to_symbol_name",
  description: "Lists the lines of one source file where a name stands as an identifier.",
  schema: Arguments,
  required: ["path", "name"],
  kind: "find",
  aliases: {},
  actions: stepActions,
  needsIndex: true,
  declare: (json, deps) => {
    const { path: typed, name } = Arguments().parse(json)
    const path = callPath(deps.workspace, typed)
    const operation = `find references to ${oneLine(name, 200)} in ${path.relative}`
    return {
      effects: pathEffects(deps.workspace, path, "read"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () =>
        preparedRead(operation, async () =>
          referenceResult(deps, path.relative, await deps.code.references(name, path.relative)),
        ),
    }
  },
}
