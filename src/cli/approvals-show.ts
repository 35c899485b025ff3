import { unknownId } from "../app/recorded-id.ts"
import { printable } from "../base/text.ts"
import type { ApprovalSummary } from "../store/session/contract.ts"
import { questionRows } from "./approval-text.ts"
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
    const approval = await app.approval(id)
    if (approval === null) throw unknownId(id, "approval")
    if (globals.json) output.json(approval)
    for (const row of recordedRows(approval)) output.line(row)
    output.line(`  ${answerText(approval)}`)
    return 0
  },
})

/** All that is recorded of a request, for somebody at another terminal than the one that asks. */
export function recordedRows(approval: ApprovalSummary): readonly string[] {
  const rows = questionRows(approval, process.stdout.columns || 80)
  if (!approval.isRedacted) return rows
  return [...rows, "  parts of it are not in the record: only the terminal that asks shows all of it"]
}

function answerText({ state, answeredBy, answeredAt, answerReason }: ApprovalSummary): string {
  if (state === "open") return "waits for an answer"
  if (answeredAt === null) return state
  const reason = answerReason === null ? "" : `: ${printable(answerReason)}`
  return `${state} by ${printable(answeredBy ?? "somebody")} at ${answeredAt}${reason}`
}
