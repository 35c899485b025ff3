import { codeBehind } from "../domain/plan-codes.ts"
import type { EvidenceHistory, EvidenceRange, EvidenceRow } from "../store/evidence/contract.ts"
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
    const evidence = await app.evidence()
    return printEvidence(evidence === null ? [] : callsWith(evidence, code, range), context)
  },
})

/** Also the calls whose end the plan format calls by this code, which their evidence does not know. */
function callsWith(evidence: EvidenceHistory, code: string, range: EvidenceRange): readonly EvidenceRow[] {
  const named = evidence.byCode(code, range)
  const behind = codeBehind(code)
  if (behind === null) return named
  const { limit, ...times } = range
  const meant = evidence.byCode(behind.code, times).filter(behind.isMeant)
  const newestFirst = (one: EvidenceRow, other: EvidenceRow) => other.at.localeCompare(one.at)
  return [...named, ...meant].sort(newestFirst).slice(0, limit)
}
