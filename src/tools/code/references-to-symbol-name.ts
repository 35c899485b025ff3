import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { oneLine } from "../../base/text.ts"
import { stepActions } from "../../domain/plan/tool-traits.ts"
import type { Tool } from "../contract.ts"
import { callPath, pathEffects } from "../path-effects.ts"
import { preparedRead } from "../tool-result.ts"
import { referenceResult } from "./code-rows.ts"

const Arguments = lazily(() => z.strictObject({ name: z.string().check(z.minLength(1)) }))

export const referencesToSymbolNameTool: Tool = {
  name: "references_to_symbol_name",
  description:
    "Lists the lines of all source files where a name stands as an identifier: definitions, uses and properties, not " +
    "comments and strings. Names are compared, not what they are bound to.",
  schema: Arguments,
  required: ["name"],
  kind: "find",
  aliases: {},
  actions: stepActions,
  needsIndex: true,
  declare: (json, deps) => {
    const { name } = Arguments().parse(json)
    const operation = `find references to ${oneLine(name, 200)}`
    return {
      effects: pathEffects(deps.workspace, callPath(deps.workspace, "."), "list", "read"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () =>
        preparedRead(operation, async () =>
          referenceResult(deps, ".", await deps.code.references(name, null)),
        ),
    }
  },
}
