import { oneLine } from "../base/text.ts"
import type { ApprovalSummary } from "../store/session/contract.ts"
import { defineCommand } from "./definition.ts"
import { limitFlag } from "./flags.ts"
import { shortId } from "./format.ts"

export const approvalsList = defineCommand({
  name: "approvals list",
  summary: "what waits for an answer, newest first",
  arguments: [],
  flags: {
    all: { kind: "boolean", summary: "also what is answered, expired or left" },
    limit: limitFlag("at most N of them (50)"),
  },
  examples: [
    { line: "acode approvals list", note: "what somebody at another terminal is asked" },
    { line: "acode approvals list --all --json", note: "for a script" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const history = await (await service()).approvals()
    const which = flags.all ? {} : { open: true }
    const found = history?.list({ limit: flags.limit ?? 50, isChecked: true, ...which }) ?? []
    if (globals.json) output.json(found)
    for (const approval of found) output.line(row(approval))
    if (found.length === 0) output.notice(flags.all ? "no approvals" : "nothing waits for an answer")
    return 0
  },
})

function row({ id, requestedAt, state, level, operation }: ApprovalSummary): string {
  return `${shortId(id)}  ${requestedAt.slice(0, 19)}Z  ${state.padEnd(9)} level ${level}  ${oneLine(operation, 100)}`
}
