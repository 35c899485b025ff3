import { defineCommand } from "./definition.ts"
import { rangeFlags, rangeOf } from "./evidence-range.ts"
import { printEvidence } from "./evidence-rows.ts"
import { canonicalToolName } from "./tool-name.ts"

export const evidenceFailures = defineCommand({
  name: "evidence failures",
  summary: "calls that failed, newest first",
  arguments: [{ name: "TOOL", summary: "of this tool alone, in either spelling", optional: true }],
  flags: rangeFlags,
  examples: [
    { line: "acode evidence failures --since 2h", note: "what went wrong lately" },
    { line: "acode evidence failures run_command --json", note: "for a script" },
  ],
  run: async ({ arguments: [tool], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const name = tool === undefined ? null : await canonicalToolName(tool)
    return printEvidence((await app.evidence())?.failures(name, range) ?? [], context)
  },
})
