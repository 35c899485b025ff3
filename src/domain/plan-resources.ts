import type { Grant } from "./effect.ts"
import type { Plan, PlanResources } from "./plan.ts"

/** What the tasks of a plan ask for together: the part of a grant that is for open steps. */
export function resourcesOf(plan: Plan): Pick<Grant, "write" | "commands" | "hosts"> {
  const all = plan.tasks.map(({ resources }) => resources)
  return { write: union(all, "write"), commands: distinctCommands(all), hosts: union(all, "hosts") }
}

function union(all: readonly PlanResources[], name: "write" | "hosts"): readonly string[] {
  return [...new Set(all.flatMap(resources => resources[name]))]
}

function distinctCommands(all: readonly PlanResources[]): Grant["commands"] {
  // As JSON, since a joined text would take ["a b"] and ["a", "b"] for one command.
  const commands = all.flatMap(({ commands: asked }) => asked)
  return [...new Map(commands.map(argv => [JSON.stringify(argv), argv])).values()]
}
