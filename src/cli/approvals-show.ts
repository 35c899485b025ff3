import { unknownId } from "../app/recorded-id.ts"
import { printable } from "../base/text.ts"
import type { ApprovalSummary } from "../store/session/contract.ts"
import { approvalLines, previewLines } from "./approval-text.ts"
import { defineCommand } from "./definition.ts"

export const approvalsShow = defineCommand({
  name: "approvals show",
  summary: "one approval: what is asked, with its preview, and how it was answered",
  arguments: [{ name: "ID", id: "approval", summary: "the id, its beginning or its last characters" }],
  flags: {},
  examples: [{ line: "acode approvals show 3f2a91bc", note: "by the id that `approvals list` shows" }],
  run: async ({ arguments: [typed = ""] }, { service, output, globals }) => {
    const app = await service()
    const id = await app.idOf(typed, "approval")
    const approval = (await app.approvals())?.find(id) ?? null
    if (approval === null) throw unknownId(id, "approval")
    if (globals.json) output.json(approval)
    for (const line of approvalLines(approval)) output.line(line)
    output.line(`  ${answerText(approval)}`)
    const columns = process.stdout.columns ?? 80
    if (approval.preview !== "")
      for (const line of previewLines(approval.preview, columns, Number.POSITIVE_INFINITY).lines)
        output.line(line)
    if (approval.isRedacted)
      output.line(
        "  parts that look like secrets are not in the record: only the terminal that asks shows all of it",
      )
    return 0
  },
})

function answerText({ state, answeredBy, answeredAt, answerReason }: ApprovalSummary): string {
  if (state === "open") return "waits for an answer"
  if (answeredAt === null) return state
  const reason = answerReason === null ? "" : `: ${printable(answerReason)}`
  return `${state} by ${printable(answeredBy ?? "somebody")} at ${answeredAt}${reason}`
}
