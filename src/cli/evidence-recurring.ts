import { oneLine } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import { rangeFlags, rangeOf } from "./evidence-range.ts"
import { printRows } from "./evidence-rows.ts"
import { limitFlag } from "./flags.ts"

export const evidenceRecurring = defineCommand({
  name: "evidence recurring",
  summary: "diagnostics that came back, most frequent first",
  arguments: [],
  flags: {
    threshold: limitFlag("that came at least N times (2)"),
    ...rangeFlags,
  },
  examples: [{ line: "acode evidence recurring --threshold 3 --since 1w", note: "what keeps coming back" }],
  run: async ({ flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const found = (await app.evidence())?.recurring(flags.threshold ?? 2, range) ?? []
    return printRows(
      found.map(diagnostic => ({ id: diagnostic.code, ...diagnostic })),
      ({ code, count, firstSeen, lastSeen }) =>
        `${String(count).padStart(5)} × ${oneLine(code, 40)}  ${firstSeen} to ${lastSeen}`,
      context,
    )
  },
})
