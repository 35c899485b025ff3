import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { shownPath } from "../base/path-names.ts"
import { stepActions } from "../domain/plan/tool-traits.ts"
import type { ListedEntry } from "../workspace/contract.ts"
import type { Tool } from "./contract.ts"
import { callPath, pathEffects } from "./path-effects.ts"
import { preparedRead, toolResult } from "./tool-result.ts"

const depthMax = 20

const Arguments = lazily(() =>
  z.strictObject({
    path: z.string().check(z.minLength(1)),
    depth: z.optional(z.int().check(z.minimum(1), z.maximum(depthMax))),
  }),
)

export const listDirectoryTool: Tool = {
  name: "list_directory",
  description:
    "Lists the entries of a directory; depth 2 and more lists the directories in it too. `.` is the root.",
  schema: Arguments,
  required: ["path"],
  kind: "find",
  aliases: {},
  actions: stepActions,
  declare: (json, deps) => {
    const args = Arguments().parse(json)
    const path = callPath(deps.workspace, args.path)
    const operation = `list ${path.relative}`
    return {
      effects: pathEffects(deps.workspace, path, "list"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () =>
        preparedRead(operation, async () => {
          const { entriesMax } = deps.limits
          const listing = deps.workspace.list({ path: args.path, depth: args.depth ?? 1, entriesMax })
          const more = listing.truncated ? `\n[there are more than ${entriesMax} entries]` : ""
          return toolResult(deps, {
            value: {
              path: listing.path,
              entries: listing.entries.map(entryValue),
              truncated: listing.truncated,
            },
            text: (listing.entries.map(entryText).join("\n") || "(the directory is empty)") + more,
            paths: [listing.path],
          })
        }),
    }
  },
}

function entryValue({ path, kind, sizeBytes, target }: ListedEntry) {
  return { path, kind, size_bytes: sizeBytes, target: target?.text ?? null }
}

function entryText({ path, kind, sizeBytes, target }: ListedEntry): string {
  if (kind === "directory") return shownPath(`${path}/`)
  const name = shownPath(path)
  if (target !== null)
    return `${name} -> ${shownPath(target.text)}${target.inside ? "" : " (outside workspace)"}`
  return kind === "file" ? `${name} (${sizeBytes} bytes)` : `${name} (${kind})`
}
