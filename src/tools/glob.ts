import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { shownPath } from "../base/path-names.ts"
import { stepActions } from "../domain/plan/tool-traits.ts"
import type { Tool } from "./contract.ts"
import { callPath, pathEffects } from "./path-effects.ts"
import { preparedRead, toolResult } from "./tool-result.ts"

const Arguments = lazily(() =>
  z.strictObject({
    pattern: z.string().check(z.minLength(1)),
    path: z.optional(z.string().check(z.minLength(1))),
  }),
)

export const globTool: Tool = {
  name: "glob",
  description:
    "Finds files by name: *, ?, [a-z], ** and {a,b}. The pattern is relative to path (`.` when left out). " +
    "Skips files that git ignores.",
  schema: Arguments,
  required: ["pattern"],
  kind: "find",
  aliases: { file_glob: { pattern: "pattern", root: "path" } },
  actions: stepActions,
  declare: (json, deps) => {
    const { pattern, path: typed = "." } = Arguments().parse(json)
    const path = callPath(deps.workspace, typed)
    const operation = `find ${pattern} in ${path.relative}`
    return {
      effects: pathEffects(deps.workspace, path, "list", "read"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () =>
        preparedRead(operation, async () => {
          const { matchesMax } = deps.limits
          const { paths, truncated } = deps.workspace.glob({ pattern, path: typed, matchesMax })
          const more = truncated ? `\n[there are more than ${matchesMax} files]` : ""
          return toolResult(deps, {
            value: { paths, truncated },
            text: (paths.map(shownPath).join("\n") || "(no file has such a name)") + more,
            paths: [path.relative],
          })
        }),
    }
  },
}
