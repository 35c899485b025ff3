import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { stepActions } from "../../domain/plan/tool-traits.ts"
import type { Tool } from "../contract.ts"
import { callPath, pathEffects } from "../path-effects.ts"
import { preparedRead } from "../tool-result.ts"
import { symbolResult } from "./code-rows.ts"

const Arguments = lazily(() => z.strictObject({ path: z.string().check(z.minLength(1)) }))

export const symbolsInFileTool: Tool = {
  name: "symbols_in_file",
  description:
    "Lists the functions, classes, types and other symbols that a source file defines, with the lines of each.",
  schema: Arguments,
  required: ["path"],
  kind: "find",
  aliases: {},
  actions: stepActions,
  needsIndex: true,
  declare: (json, deps) => {
    const { path: typed } = Arguments().parse(json)
    const path = callPath(deps.workspace, typed)
    const operation = `list the symbols of ${path.relative}`
    return {
      effects: pathEffects(deps.workspace, path, "read"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () =>
        preparedRead(operation, async () =>
          symbolResult(deps, path.relative, await deps.code.symbolsInFile(path.relative)),
        ),
    }
  },
}
