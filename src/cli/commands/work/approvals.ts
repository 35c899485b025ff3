import { unknownId } from "../../../app/recorded-id.ts"
import type { ShownPlanApproval } from "../../../app/verbs/plans.ts"
import { counted, oneLine, printable } from "../../../base/text.ts"
import type { ApprovalSummary } from "../../../store/session/contract.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import { limitFlag } from "../../parse/flags.ts"
import { questionRows } from "../../render/approval-text.ts"
import { shortId } from "../../render/format.ts"

export const approvalsList = defineCommand({
  name: "approvals list",
  summary: "list requests that wait for an answer, newest first; --plans lists approved plans",
  arguments: [],
  flags: {
    plans: { kind: "boolean", summary: "the plans that `plan approve` approved and that can be run now" },
    all: { kind: "boolean", summary: "also requests that were answered, expired, revoked or abandoned" },
    limit: limitFlag("at most N of them (50)"),
  },
  examples: [
    { line: "acode approvals list", note: "open questions of other terminals" },
    { line: "acode approvals list --plans", note: "which plans may be run, until when" },
    { line: "acode approvals list --all --json", note: "for a script" },
  ],
  run: async ({ flags }, context) => {
    if (flags.plans) return listPlans(flags.all, flags.limit ?? 50, context)
    const { service, output, globals } = context
    const history = (await (await service()).listed())?.approvals
    const which = flags.all ? {} : { open: true }
    const found = history?.list({ limit: flags.limit ?? 50, isChecked: true, ...which }) ?? []
    if (globals.json) output.json(found)
    for (const approval of found) output.line(row(approval))
    if (found.length === 0) output.notice(flags.all ? "no approvals" : "nothing waits for an answer")
    return 0
  },
})

async function listPlans(
  isAll: boolean,
  limit: number,
  { service, output, globals }: CliContext,
): Promise<number> {
  const approvals = await (await service()).planApprovals()
  const listed = approvals.filter(({ state }) => isAll || state === "valid").slice(0, limit)
  if (globals.json) output.json(listed)
  for (const approval of listed) output.line(planRow(approval))
  if (listed.length === 0) output.notice(isAll ? "no approvals of plans" : "no plan may be run now")
  return 0
}

function planRow({ id, approvedAt, state, expiresAt, stepCount, planId }: ShownPlanApproval): string {
  const until = `until ${expiresAt.slice(0, 19)}Z`
  return `${shortId(id)}  ${approvedAt.slice(0, 19)}Z  ${state.padEnd(7)}  ${until}  ${counted(stepCount, "step")}  ${oneLine(planId, 100)}`
}

function row({ id, requestedAt, state, level, operation }: ApprovalSummary): string {
  return `${shortId(id)}  ${requestedAt.slice(0, 19)}Z  ${state.padEnd(9)} level ${level}  ${oneLine(operation, 100)}`
}

export const approvalsShow = defineCommand({
  name: "approvals show",
  summary: "show one approval: the request with its preview and answer, or the plan it covers",
  arguments: [{ name: "ID", id: "anyApproval", summary: "the id, its beginning or its last characters" }],
  flags: {},
  examples: [{ line: "acode approvals show 3f2a91bc", note: "by the id that `approvals list` shows" }],
  run: async ({ arguments: [typed = ""] }, { service, output, globals }) => {
    const app = await service()
    const id = await app.idOf(typed, "anyApproval")
    const approval = await app.approval(id)
    if (approval === null) {
      const plan = (await app.planApprovals()).find(each => each.id === id)
      if (plan === undefined) throw unknownId(id, "anyApproval")
      if (globals.json) output.json(plan)
      for (const row of planApprovalRows(plan)) output.line(row)
      return 0
    }
    if (globals.json) output.json(approval)
    for (const row of recordedRows(approval)) output.line(row)
    output.line(`  ${answerText(approval)}`)
    return 0
  },
})

function planApprovalRows(approval: ShownPlanApproval): readonly string[] {
  const { id, planId, planHash, stepCount, approver, approvedAt, expiresAt, state, revoked } = approval
  const why = revoked === null || revoked.reason === null ? "" : `: ${printable(revoked.reason)}`
  const end =
    revoked === null
      ? `${state} until ${expiresAt}`
      : `revoked by ${printable(revoked.by)} at ${revoked.at}${why}`
  return [
    `approval ${shortId(id)} of a plan`,
    `  plan      ${oneLine(planId, 200)}, ${counted(stepCount, "step")}`,
    `  hash      ${planHash}`,
    `  approved  by ${printable(approver)} at ${approvedAt}`,
    `  ${state === "ended" ? `ended at ${expiresAt}` : end}`,
  ]
}

/** Returns everything recorded about a request, for a terminal other than the one that asks. */
function recordedRows(approval: ApprovalSummary): readonly string[] {
  const rows = questionRows(approval, process.stdout.columns || 80)
  if (!approval.isRedacted) return rows
  return [
    ...rows,
    "  parts of it were redacted from the record: only the terminal that asks shows everything",
  ]
}

function answerText({ state, answeredBy, answeredAt, answerReason }: ApprovalSummary): string {
  if (state === "open") return "waits for an answer"
  if (answeredAt === null) return state
  const reason = answerReason === null ? "" : `: ${printable(answerReason)}`
  return `${state} by ${printable(answeredBy ?? "somebody")} at ${answeredAt}${reason}`
}

export const approve = defineCommand({
  name: "approve",
  summary: "approve a request that waits for an answer, from any terminal",
  description:
    "Shows the request and records the approval. Typing the command is the answer: it does not ask again. The approval\n" +
    "covers exactly this request, once, and for a limited time. A request is refused if its record hides a part that\n" +
    "looks like a secret. The first answer counts.",
  arguments: [{ name: "ID", id: "approval", summary: "the id, its beginning or its last characters" }],
  flags: {},
  examples: [{ line: "acode approve 3f2a91bc", note: "after `acode approvals show 3f2a91bc`" }],
  run: async ({ arguments: [typed = ""] }, { service, output, globals }) => {
    const app = await service()
    const approvalId = await app.idOf(typed, "approval")
    const asked = await app.approval(approvalId)
    // Printed before the answer is recorded, so that the user can still press Ctrl-C.
    if (asked?.state === "open" && !asked.isRedacted) output.shown(recordedRows(asked))
    const answered = await app.answer({ approvalId, answer: "granted", reason: null })
    if (globals.json) output.json(answered)
    output.line(`approved ${shortId(approvalId)}: ${oneLine(answered.operation, 500)}`)
    return 0
  },
})

export const deny = defineCommand({
  name: "deny",
  summary: "deny a request that waits for an answer, from any terminal",
  arguments: [{ name: "ID", id: "approval", summary: "the id, its beginning or its last characters" }],
  flags: { reason: { kind: "text", value: "TEXT", summary: "why; the model is given the text" } },
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
