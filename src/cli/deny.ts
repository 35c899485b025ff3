import { oneLine } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import { shortId } from "./format.ts"

export const deny = defineCommand({
  name: "deny",
  summary: "deny what waits for an answer, from any terminal",
  arguments: [{ name: "ID", id: "approval", summary: "the id, its beginning or its last characters" }],
  flags: { reason: { kind: "text", value: "TEXT", summary: "why, for whoever asked" } },
  examples: [
    { line: "acode deny 3f2a91bc", note: "by the id that `approvals list` shows" },
    { line: "acode deny 3f2a91bc --reason 'not on a Friday'", note: "the reason is recorded" },
  ],
  run: async ({ arguments: [typed = ""], flags }, { service, output, globals }) => {
    const app = await service()
    const approvalId = await app.idOf(typed, "approval")
    const answered = await app.answer({ approvalId, answer: "refused", reason: flags.reason ?? null })
    if (globals.json) output.json(answered)
    output.line(`denied ${shortId(approvalId)}: ${oneLine(answered.operation, 500)}`)
    return 0
  },
})
