import { defineCommand } from "./definition.ts"
import { planArgument, validPlan } from "./plan-file.ts"

export const planHash = defineCommand({
  name: "plan hash",
  summary: "print the hash that an approval of a plan is bound to",
  description: "Spacing and the order of keys do not change it; everything else does.",
  arguments: [planArgument],
  flags: {},
  examples: [
    { line: "acode plan hash plan.json", note: "to compare with what was approved" },
    { line: "acode plan hash - --json < plan.json", note: "for a script" },
  ],
  run: async ({ arguments: [file = ""] }, { output, globals }) => {
    const { planId, hash } = await validPlan(file)
    if (globals.json) output.json({ plan_id: planId, hash })
    output.line(hash)
    return 0
  },
})
