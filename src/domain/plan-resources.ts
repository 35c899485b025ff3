import type { Json } from "../base/canonical.ts"
import { exactName } from "../base/text.ts"
import { type Grant, reachText } from "./effect.ts"
import type { Plan, PlanResources } from "./plan.ts"

/** What the tasks of a plan ask for together: the part of a grant that is for open steps. */
export function resourcesOf(plan: Plan): Pick<Grant, "write" | "commands" | "hosts"> {
  const all = plan.tasks.map(({ resources }) => resources)
  return { write: union(all, "write"), commands: distinctCommands(all), hosts: union(all, "hosts") }
}

/** What approving the plan lets be reached, for the first line of the question about it. */
export function reachOfPlan(plan: Plan): string {
  const { write, commands, hosts } = resourcesOf(plan)
  const steps = plan.tasks.flatMap(task => task.steps)
  const calls = steps.flatMap(step => (step.kind === "concrete" && !readers.has(step.tool) ? [step] : []))
  const isOnline = calls.some(({ arguments: given }) => given["network"] === "host")
  const isRun = commands.length > 0 || calls.some(({ tool }) => runners.has(tool))
  const named = calls.filter(({ tool }) => !runners.has(tool)).map(stepPath)
  const written = [...(isRun ? ["this workspace"] : []), ...write.map(exactName), ...named]
  return reachText(isOnline ? ["everything"] : hosts.map(exactName), [...new Set(written)])
}

const readers: ReadonlySet<string> = new Set(["read_file", "list_directory", "search_code", "glob"])
const runners: ReadonlySet<string> = new Set(["run_command", "run_terminal"])

function stepPath({
  id,
  arguments: { path },
}: {
  readonly id: string
  readonly arguments: Readonly<Record<string, Json>>
}) {
  return typeof path === "string" ? exactName(path) : `what step ${exactName(id)} names`
}

function union(all: readonly PlanResources[], name: "write" | "hosts"): readonly string[] {
  return [...new Set(all.flatMap(resources => resources[name]))]
}

function distinctCommands(all: readonly PlanResources[]): Grant["commands"] {
  // As JSON, since a joined text would take ["a b"] and ["a", "b"] for one command.
  const commands = all.flatMap(({ commands: asked }) => asked)
  return [...new Map(commands.map(argv => [JSON.stringify(argv), argv])).values()]
}
