import type { ListedWorkspace } from "../../../app/verbs/workspaces.ts"
import { shownPath } from "../../../base/path-names.ts"
import { defineCommand } from "../../definition.ts"
import { bytesText } from "../../render/format.ts"

export const workspaceList = defineCommand({
  name: "workspace list",
  summary: "list the workspaces that acode stores data of, and whether their directories still exist",
  description:
    "acode keeps the history of a workspace outside of it. It belongs to one directory: one that was moved, or made\n" +
    "anew at the same path, starts without a history until it adopts the old one. What is set aside was recorded in a\n" +
    "directory that has adopted another history since.",
  arguments: [],
  flags: {},
  examples: [{ line: "acode workspace list", note: "keys, sizes and paths" }],
  run: async (_, { service, output, globals }) => {
    const all = await (await service()).workspaces()
    if (globals.json) output.json(all)
    if (all.length === 0) output.line("acode keeps no state of any workspace")
    for (const workspace of all) output.line(line(workspace))
    return 0
  },
})

function line({ key, bytes, root, standing }: ListedWorkspace): string {
  const note = {
    here: "  (this workspace)",
    elsewhere: "",
    gone: "  (moved or removed)",
    aside: "  (set aside)",
  }[standing]
  return `${key}  ${bytesText(bytes).padStart(10)}  ${shownPath(root)}${note}`
}

export const workspaceAdopt = defineCommand({
  name: "workspace adopt",
  summary: "use the history of a directory that was moved here or was at this path before",
  description:
    "What was recorded here meanwhile is not mixed with it: it is set aside as a history of its own, which can be\n" +
    "adopted in turn or forgotten.",
  arguments: [{ name: "KEY", summary: "as `acode workspace list` shows it; its beginning or end is enough" }],
  flags: {},
  examples: [{ line: "acode workspace adopt KEY", note: "in the directory after it was moved" }],
  run: async ({ arguments: [typed = ""] }, { service, output, globals }) => {
    const app = await service()
    const adopted = await app.adoptWorkspace(typed)
    if (globals.json)
      output.json({ key: adopted.key, from: adopted.root, to: app.workspaceRoot, setAside: adopted.setAside })
    output.line(`the history of ${shownPath(adopted.root)} is now that of ${shownPath(app.workspaceRoot)}`)
    if (adopted.setAside !== null)
      output.line(
        output.advice(
          `what was recorded here until now is set aside: \`acode workspace adopt ${adopted.setAside}\` brings it back`,
        ),
      )
    output.line("→ acode audit verify")
    return 0
  },
})

export const workspaceForget = defineCommand({
  name: "workspace forget",
  summary: "permanently remove a history that was set aside or whose directory is gone, with its checkpoints",
  arguments: [{ name: "KEY", summary: "as `acode workspace list` shows it; its beginning or end is enough" }],
  flags: {},
  examples: [{ line: "acode workspace forget KEY", note: "typing the key is the answer: it does not ask" }],
  run: async ({ arguments: [typed = ""] }, { service, output, globals }) => {
    const { key, root, bytes } = await (await service()).forgetWorkspace(typed)
    if (globals.json) output.json({ key, root, bytes })
    output.line(`forgot ${shownPath(root)}, ${bytesText(bytes)} freed`)
    return 0
  },
})
