import type { Plan } from "../domain/plan.ts"
import { planLines } from "../domain/plan-listing.ts"
import { wrappedLines } from "./approval-text.ts"
import { defineCommand } from "./definition.ts"
import { planArgument, validPlan } from "./plan-file.ts"

export const planApprove = defineCommand({
  name: "plan approve",
  summary: "approve exactly this plan, so that it can be run",
  description:
    "Shows the plan and its hash and records the approval: typing it is the answer, it never asks.\n" +
    "The approval is of the content, not of the file name: any change but spacing and the order of keys ends it.",
  arguments: [planArgument],
  flags: {
    expires: {
      kind: "duration",
      value: "DURATION",
      summary: "how long it holds: 90s, 30m, 1h (default), 7d; at most a year",
      minMs: 1,
      maxMs: 366 * 86_400_000,
    },
  },
  examples: [
    { line: "acode plan approve plan.json", note: "holds for an hour" },
    { line: "acode plan approve plan.json --expires 7d", note: "for longer" },
  ],
  run: async ({ arguments: [file = ""], flags }, { output, globals, service }) => {
    const plan = await validPlan(file)
    const app = await service()
    // Shown before it is recorded: whoever sees something wrong in it can still press Ctrl-C.
    const show = (reach: string) => output.shown(planRows(plan, reach))
    const approval = await app.approvePlan(plan, flags.expires ?? 3_600_000, show)
    if (globals.json) output.json({ id: approval.approvalId, ...approval })
    output.line()
    output.line(`${output.green("approved")} by ${approval.approver} until ${approval.expiresAt}`)
    output.line(output.dim(`approval ${approval.approvalId}`))
    return 0
  },
})

/** The plan behind what it could reach, which stands below it again where the plan moves it off the screen. */
export function planRows(plan: Plan, reach: string | null): readonly string[] {
  const lines = [...(reach === null ? [] : [reach]), ...planLines(plan)]
  const { columns, rows, isTTY } = process.stdout
  if (!isTTY) return lines
  const shown = wrappedLines(lines, columns || 80)
  const isLong = shown.length > (rows || 24) - endRows
  return reach !== null && isLong ? [...shown, ...wrappedLines(["", reach], columns || 80)] : shown
}

/** What is printed behind it. */
const endRows = 4
