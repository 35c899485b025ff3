import { defineCommand } from "./definition.ts"
import { rangeFlags, rangeOf } from "./evidence-range.ts"
import { printEvidence } from "./evidence-rows.ts"
import { canonicalToolName } from "./tool-name.ts"

export const evidenceByTool = defineCommand({
  name: "evidence by-tool",
  summary: "what a tool did, oldest first",
  arguments: [{ name: "TOOL", summary: "in either spelling: write_file or file_write" }],
  flags: rangeFlags,
  examples: [
    { line: "acode evidence by-tool write_file --since 1d", note: "every file written since yesterday" },
    { line: "acode evidence by-tool run_command --json", note: "for a script" },
  ],
  run: async ({ arguments: [tool = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const name = await canonicalToolName(tool)
    return printEvidence((await app.evidence())?.byTool(name, range) ?? [], context)
  },
})
