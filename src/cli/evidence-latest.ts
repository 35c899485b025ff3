import { defineCommand } from "./definition.ts"
import { printEvidence } from "./evidence-rows.ts"

export const evidenceLatest = defineCommand({
  name: "evidence latest",
  summary: "the last call that concerned a path",
  arguments: [{ name: "PATH", summary: "relative to the workspace, or absolute" }],
  flags: {},
  examples: [{ line: "acode evidence latest src/email.ts --json", note: "an array of one, or of none" }],
  run: async ({ arguments: [path = ""] }, context) => {
    const app = await context.service()
    const found = (await app.evidence())?.latest(app.recordedPath(path)) ?? null
    return printEvidence(found === null ? [] : [found], context)
  },
})
