import { defineCommand } from "./definition.ts"
import { rangeFlags, rangeOf } from "./evidence-range.ts"
import { printEvidence } from "./evidence-rows.ts"

export const evidenceByFile = defineCommand({
  name: "evidence by-file",
  summary: "calls that looked at or changed a path, newest first",
  arguments: [{ name: "PATH", summary: "relative to the workspace, or absolute" }],
  flags: rangeFlags,
  examples: [{ line: "acode evidence by-file src/email.ts", note: "who touched it" }],
  run: async ({ arguments: [path = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    return printEvidence((await app.evidence())?.byFile(app.recordedPath(path), range) ?? [], context)
  },
})
