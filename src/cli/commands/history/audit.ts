import { counted, oneLine } from "../../../base/text.ts"
import { exitCodes } from "../../../domain/exit-codes.ts"
import type { AuditProblem } from "../../../store/contract.ts"
import { defineCommand } from "../../definition.ts"

export const auditVerify = defineCommand({
  name: "audit verify",
  summary: "check the chain, signatures and anchors of the history",
  description:
    "Exits 0 when nothing was changed behind acode's back, 65 when something was, naming the first bad event.",
  arguments: [
    { name: "ID", id: "stream", summary: "a session or execution; without it everything", optional: true },
  ],
  flags: {},
  examples: [
    { line: "acode audit verify", note: "the whole history of this workspace" },
    { line: "acode audit verify --json", note: "for a script" },
  ],
  run: async ({ arguments: [typed] }, { service, output, globals }) => {
    const app = await service()
    const report = await app.audit(typed ?? null)
    if (globals.json) output.json(report)
    const anchored =
      report.anchoredPosition === null ? "no anchor yet" : `anchored up to ${report.anchoredPosition}`
    for (const { at, by, reason, findings, setAside } of report.accepted) {
      const what = setAside === null ? findings.join("; ") : `the history before it is kept as ${setAside}`
      output.line(oneLine(`accepted by ${by} at ${at}: ${reason} (${what})`, 500))
    }
    if (report.ok) {
      output.line(
        `${output.green("ok")}: ${counted(report.events, "event")} in ${counted(report.streams, "stream")}, ${anchored}`,
      )
      return 0
    }
    const [first, ...others] = report.problems
    if (first !== undefined)
      output.afterthought({
        kind: "integrity",
        code: "ACODE-SEC-004",
        message: `the history was changed: ${first.what}`,
        where: placeOf(first),
        hint:
          "keep a copy of what `acode storage show` names and of the anchors, and find out who could write there; " +
          "if you restored a backup, record that with `acode audit accept --reason TEXT`",
      })
    for (const problem of others.slice(0, 9)) output.line(`also: ${problem.what} (${placeOf(problem)})`)
    if (others.length > 9) output.line(`and ${others.length - 9} more`)
    return exitCodes.integrity.code
  },
})

function placeOf({ stream, seq, position }: AuditProblem): string {
  if (stream === null) return position === null ? "workspace database" : `position ${position}`
  return `${stream}${seq === null ? "" : ` event ${seq}`}${position === null ? "" : `, position ${position}`}`
}
