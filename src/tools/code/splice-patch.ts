import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { oneLine } from "../../base/text.ts"
import { symbolKinds } from "../../domain/code/symbol.ts"
import { writeActions } from "../../domain/plan/tool-traits.ts"
import type { Tool } from "../contract.ts"
import { callPath } from "../path-effects.ts"
import { preparedSplices, spliceEffects } from "./spliced-files.ts"

/** The members of one splice, in a call and in a file of splices. */
export const SpliceArguments = lazily(() =>
  z.strictObject({
    file: z.string().check(z.minLength(1)),
    symbol: z.string().check(z.minLength(1)),
    with: z.string().check(z.minLength(1)),
    kind: z.optional(z.enum(symbolKinds)),
  }),
)

export const splicePatchTool: Tool = {
  name: "splice_patch",
  description:
    "Replaces one whole symbol of a source file, such as a function, by the content of the file `with`, which holds one " +
    "definition of the same name and kind. symbol is its name or Container.name. Nothing is changed where the result " +
    "would have more syntax errors.",
  schema: SpliceArguments,
  required: ["file", "symbol", "with"],
  kind: "write",
  aliases: {},
  actions: writeActions,
  needsIndex: true,
  declare: (json, deps) => {
    const step = SpliceArguments().parse(json)
    const { relative } = callPath(deps.workspace, step.with)
    return {
      effects: spliceEffects(deps, step),
      effectClass: "replace",
      network: null,
      operation: `replace ${oneLine(step.symbol, 200)} in ${callPath(deps.workspace, step.file).relative} by ${relative}`,
      prepare: () => preparedSplices(deps, [step], [relative]),
    }
  },
}
