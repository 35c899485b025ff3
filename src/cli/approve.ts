import { oneLine } from "../base/text.ts"
import { recordedRows } from "./approvals-show.ts"
import { defineCommand } from "./definition.ts"
import { shortId } from "./format.ts"

export const approve = defineCommand({
  name: "approve",
  summary: "approve what waits for an answer, from any terminal",
  description:
    "Shows what is asked and records the approval: typing it is the answer, it never asks. It covers exactly this, once,\n" +
    "and for a limited time; what the record hides because it looks secret is refused. The first answer counts.",
  arguments: [{ name: "ID", id: "approval", summary: "the id, its beginning or its last characters" }],
  flags: {},
  examples: [{ line: "acode approve 3f2a91bc", note: "after `acode approvals show 3f2a91bc`" }],
  run: async ({ arguments: [typed = ""] }, { service, output, globals }) => {
    const app = await service()
    const approvalId = await app.idOf(typed, "approval")
    const asked = await app.approval(approvalId)
    // Shown before it is recorded: whoever sees something wrong in it can still press Ctrl-C.
    if (asked?.state === "open" && !asked.isRedacted) output.shown(recordedRows(asked))
    const answered = await app.answer({ approvalId, answer: "granted", reason: null })
    if (globals.json) output.json(answered)
    output.line(`approved ${shortId(approvalId)}: ${oneLine(answered.operation, 500)}`)
    return 0
  },
})
