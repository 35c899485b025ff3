import { shownPath } from "../base/path-names.ts"
import { oneLine } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import { rangeFlags, rangeOf } from "./evidence-range.ts"
import { printRows } from "./evidence-rows.ts"
import { durationText, shortId } from "./format.ts"

export const evidenceFixes = defineCommand({
  name: "evidence fixes",
  summary: "successful changes of a file after a diagnostic of this code, oldest first",
  description: "What came after, in time. Nothing is said about whether it helped.",
  arguments: [{ name: "CODE", summary: "such as TS2322 or E301" }],
  flags: rangeFlags,
  examples: [{ line: "acode evidence fixes TS2322 --json", note: "for a script" }],
  run: async ({ arguments: [code = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const found = (await app.evidence())?.fixes(code, range) ?? []
    return printRows(
      found.map(fix => ({ id: fix.fixId, ...fix })),
      ({ diagnosticId, fixId, file, tool, temporalGapMs }) =>
        `${shortId(diagnosticId)} → ${shortId(fixId)}  after ${durationText(temporalGapMs)}` +
        `  ${oneLine(tool, 30)}  ${oneLine(shownPath(file), 100)}`,
      context,
    )
  },
})
