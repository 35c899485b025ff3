import { canonicalJson, type Json } from "../base/canonical.ts"
import type { PlanVersion } from "../domain/pipeline/state.ts"
import type { Plan } from "../domain/plan.ts"
import { resourcesOf } from "../domain/plan-resources.ts"

/** A plan, and what the project itself would run to verify it. */
export type Proposal = Pick<PlanVersion, "plan" | "checks">

/** Everything the new plan may write, run or reach was in the old one, so whoever approved that has seen it. */
export function asksForNoMore(now: Proposal, before: Proposal): boolean {
  const [asked, granted] = [resourcesOf(now.plan), resourcesOf(before.plan)]
  return (
    isWithin(asked.write, granted.write) &&
    isWithin(asked.commands, granted.commands) &&
    isWithin(asked.hosts, granted.hosts) &&
    isWithin(verifyingCommands(now), [...verifyingCommands(before), ...granted.commands]) &&
    isWithin(concreteSteps(now.plan), concreteSteps(before.plan))
  )
}

/** What verification may run without asking: the plan's criteria and the project's own commands. */
export function verifyingCommands({ plan, checks }: Proposal): readonly (readonly string[])[] {
  const criteria = plan.tasks.flatMap(({ acceptance }) => acceptance)
  const commands = [...criteria.flatMap(each => (each.kind === "command" ? [each.command] : [])), ...checks]
  return [...new Map(commands.map(argv => [canonicalJson(argv), argv])).values()]
}

/** As a call would be made: a step that no longer asks for confirmation asks for more. */
function concreteSteps({ tasks }: Plan): readonly Json[] {
  return tasks.flatMap(({ steps }) =>
    steps.flatMap(step =>
      step.kind === "concrete"
        ? [[step.tool, step.arguments, step.precondition, step.requiresConfirmation]]
        : [],
    ),
  )
}

/** Each as often as it was granted, at most. */
function isWithin(asked: readonly Json[], granted: readonly Json[]): boolean {
  const left = new Map<string, number>()
  for (const each of granted.map(canonicalJson)) left.set(each, (left.get(each) ?? 0) + 1)
  return asked.map(canonicalJson).every(each => {
    const times = left.get(each) ?? 0
    left.set(each, times - 1)
    return times > 0
  })
}
