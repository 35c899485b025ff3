import { defineCommand } from "./definition.ts"
import { rangeFlags, rangeOf } from "./evidence-range.ts"
import { printEvidence } from "./evidence-rows.ts"

export const evidenceByCode = defineCommand({
  name: "evidence by-code",
  summary: "calls with a diagnostic of this code, newest first",
  arguments: [{ name: "CODE", summary: "such as TS2322 or E301" }],
  flags: rangeFlags,
  examples: [{ line: "acode evidence by-code E301", note: "every read of a file that was not there" }],
  run: async ({ arguments: [code = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    return printEvidence((await app.evidence())?.byCode(code, range) ?? [], context)
  },
})
