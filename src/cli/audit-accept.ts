import { oneLine } from "../base/text.ts"
import { exitCodes } from "../domain/exit-codes.ts"
import { Failure } from "../domain/failure.ts"
import { defineCommand } from "./definition.ts"

export const auditAccept = defineCommand({
  name: "audit accept",
  summary: "accept a history that does not match its anchors, as it is",
  description:
    "Use it when you know why: a backup was restored, or the data directory was lost. It is recorded, and\n" +
    "`audit verify` reports it from then on. Events that were changed are not accepted and stay unusable; approvals and\n" +
    "answers that were given before and not used have to be given again. When the signing key is gone, the history is\n" +
    "set aside and a new one begins. The old anchors are kept.",
  arguments: [],
  flags: { reason: { kind: "text", value: "TEXT", summary: "why it does not match, for the record" } },
  examples: [
    {
      line: "acode audit accept --reason 'restored the backup of Monday'",
      note: "after `acode audit verify`",
    },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const reason = flags.reason?.trim() ?? ""
    if (reason === "") throw noReason()
    const app = await service()
    const accepted = await app.acceptHistory(reason)
    if (globals.json) output.json(accepted)
    for (const finding of accepted.findings) output.line(`accepted: ${oneLine(finding, 500)}`)
    if (accepted.setAside !== null)
      output.line(
        `accepted: the signing key is gone; the history is kept as ${accepted.setAside}, a new one begins`,
      )
    output.notice("approvals and answers that were not used before have to be given again")
    const [left] = (await app.audit(null)).problems
    if (left === undefined) return 0
    output.afterthought({
      kind: "integrity",
      code: "ACODE-SEC-004",
      message: `this was not accepted, and stays unusable: ${left.what}`,
      ...(left.stream === null ? {} : { where: left.stream }),
      hint: "`acode audit verify` names all of it",
    })
    return exitCodes.integrity.code
  },
})

function noReason(): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: "say why the history does not match what was anchored",
    where: "--reason",
    hint: "`acode audit verify` shows what does not match",
  })
}
