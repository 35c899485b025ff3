import { printable } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import type { Output } from "./output.ts"
import { sessionArguments, sessionIdOf } from "./session-id.ts"

export const sessionUndo = defineCommand({
  name: "session undo",
  summary: "put back what a session changed, and nothing else",
  description:
    "Shows what will be put back and does it. Files that somebody else has changed since stay as they are and are\n" +
    "named; the exit code is then 1, and another undo goes on with what is left.",
  ...sessionArguments,
  flags: {
    ...sessionArguments.flags,
    preview: { kind: "boolean", summary: "only show what would be put back" },
  },
  examples: [
    { line: "acode session undo 3f2a91bc --preview", note: "look first" },
    { line: "acode session undo 3f2a91bc", note: "put it back" },
  ],
  run: async (input, { output, globals, service }) => {
    const app = await service()
    const id = await sessionIdOf(app, input)
    const plan = await app.previewUndo(id)
    const { remove, write, foreign } = plan
    if (input.flags.preview) {
      if (globals.json) output.json({ id, remove, write, foreign, lost: plan.lost.map(({ path }) => path) })
      const lost = plan.lost.map(explained)
      tell(output, { "would remove": remove, "would restore": write, "changed by others": foreign, lost })
      return 0
    }
    const undone = await app.undo(id)
    const { removed, restored, blocked } = undone
    if (globals.json) output.json({ id, ...undone })
    tell(output, {
      removed,
      restored,
      "left alone, changed by others": undone.foreign,
      "not put back": blocked.map(explained),
    })
    return undone.foreign.length + blocked.length === 0 ? 0 : 1
  },
})

function explained({ path, reason }: { readonly path: string; readonly reason: string }): string {
  return `${path} (${reason})`
}

function tell(output: Output, groups: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, paths] of Object.entries(groups))
    for (const path of paths) output.line(`${name}: ${printable(path)}`)
}
