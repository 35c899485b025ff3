import * as z from "zod/mini"
import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import { lazily } from "../../base/lazy.ts"
import { exactName } from "../../base/text.ts"
import { commandReach, type Grant, reachText, wholeNetwork } from "../effect.ts"
import { toolsForAction, toolsOfKind } from "./tool-traits.ts"

export const planIntents = ["READ", "MUTATE", "QUERY", "EXPLAIN"] as const
type PlanIntent = (typeof planIntents)[number]

/**
 * The conditions that a step may require before its tool is called. A closed list: an unknown one is an error, not a
 * pass.
 */
export const preconditions = [
  "none",
  "file_exists",
  "project_exists",
  "index_exists",
  "symbol_exists",
  "root_exists",
] as const
export type Precondition = (typeof preconditions)[number]

export interface Plan {
  readonly planId: string
  readonly goal: string
  readonly intent: PlanIntent
  readonly tasks: readonly PlanTask[]
  readonly evidenceReferenced: readonly string[]
  /** SHA-256 of the canonical JSON of the file: spacing and key order do not matter, everything else does. */
  readonly hash: string
}

export interface PlanTask {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly complexity: number
  readonly dependsOn: readonly string[]
  readonly resources: PlanResources
  readonly acceptance: readonly Criterion[]
  readonly steps: readonly PlanStep[]
}

export interface PlanResources {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly commands: readonly (readonly string[])[]
  readonly hosts: readonly string[]
}

interface StepBase {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly dependsOn: readonly string[]
}

/** A step for which the model chooses the calls. */
interface OpenStep extends StepBase {
  readonly kind: "open"
  readonly action: string
}

/** A step with one call, exactly as written. */
export interface ConcreteStep extends StepBase {
  readonly kind: "concrete"
  readonly tool: string
  readonly arguments: { readonly [name: string]: Json }
  readonly precondition: Precondition
  readonly requiresConfirmation: boolean
}

export type PlanStep = OpenStep | ConcreteStep

export const Criterion = lazily(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      id: z.string(),
      kind: z.literal("command"),
      command: z.array(z.string()).check(z.minLength(1)),
      expect_exit: z._default(z.int(), 0),
    }),
    z.strictObject({ id: z.string(), kind: z.literal("file_exists"), path: z.string() }),
    z.strictObject({
      id: z.string(),
      kind: z.literal("file_contains"),
      path: z.string(),
      pattern: z.string(),
    }),
    z.strictObject({
      id: z.string(),
      kind: z.literal("diagnostics"),
      path: z.string(),
      max_errors: z._default(z.int(), 0),
    }),
    z.strictObject({ id: z.string(), kind: z.literal("judgement"), text: z.string() }),
  ]),
)
export type Criterion = z.infer<ReturnType<typeof Criterion>>

/** Returns the hash that an approval is bound to: everything in the file except spacing and the order of keys. */
export function planHash(value: Json): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`
}

/** Returns the key of a step of a plan, which is the same in every run: it makes two runs comparable. */
export function stepKey(hash: string, index: number, stepId: string, args: Json): string {
  return sha256Hex(canonicalJson([hash, index, stepId, args]))
}

/** Returns what the tasks of a plan request together: the part of a grant that is for open steps. */
export function resourcesOf(plan: Plan): Pick<Grant, "write" | "commands" | "hosts"> {
  const all = plan.tasks.map(({ resources }) => resources)
  return {
    write: union(all, "write"),
    commands: distinctCommands(all.flatMap(({ commands }) => commands)),
    hosts: union(all, "hosts"),
  }
}

/** A plan, and commands of the project itself that verify it. */
export interface Proposal {
  readonly plan: Plan
  readonly checks: readonly (readonly string[])[]
}

/** Returns what verification may run without asking: the plan's criteria and the project's own commands. */
export function verifyingCommands({ plan, checks }: Proposal): readonly (readonly string[])[] {
  const criteria = plan.tasks.flatMap(({ acceptance }) => acceptance)
  return distinctCommands([
    ...criteria.flatMap(each => (each.kind === "command" ? [each.command] : [])),
    ...checks,
  ])
}

/**
 * Returns what a session may reach once the plan is approved, for the first line of the question about it. A confined
 * command may write the whole workspace, an unconfined one everything that its user may write.
 */
export function reachOfPlan(proposal: Proposal, isConfined: boolean): string {
  const { tasks } = proposal.plan
  const { write, commands } = resourcesOf(proposal.plan)
  const calls = reachOfCalls(proposal.plan)
  const { isAll, hosts } = networkOfPlan(proposal.plan)
  // A failed criterion is fixed by a step that may run commands.
  const isRun =
    calls.isRun ||
    commands.length + proposal.checks.length > 0 ||
    tasks.some(({ acceptance, steps }) => acceptance.length > 0 || steps.some(mayRun))
  const written = [...(isRun ? [commandReach(isConfined)] : []), ...write.map(exactName), ...calls.paths]
  const isUnfiltered = isAll || (isRun && !isConfined)
  return reachText(isUnfiltered ? [wholeNetwork] : hosts.map(exactName), [...new Set(written)])
}

/** Returns the reach of a run that makes only the plan's own calls. */
export function reachOfSteps(plan: Plan, isConfined: boolean): string {
  const { isOnline, hosts, isRun, paths } = reachOfCalls(plan)
  const written = [...(isRun ? [commandReach(isConfined)] : []), ...paths]
  const isUnfiltered = isOnline || (isRun && !isConfined)
  return reachText(isUnfiltered ? [wholeNetwork] : [...new Set(hosts)].map(exactName), [...new Set(written)])
}

/** Returns what approving the plan allows of the network: all of it, or the entries of allowlists. */
export function networkOfPlan(plan: Plan): { readonly isAll: boolean; readonly hosts: readonly string[] } {
  const { isOnline, hosts } = reachOfCalls(plan)
  return { isAll: isOnline, hosts: [...new Set([...resourcesOf(plan).hosts, ...hosts])] }
}

function reachOfCalls({ tasks }: Plan) {
  const steps = tasks.flatMap(task => task.steps)
  const calls = steps.flatMap(step => (step.kind === "concrete" && !readers.has(step.tool) ? [step] : []))
  return {
    isOnline: calls.some(({ arguments: given }) => given["network"] === "host"),
    hosts: tasks.flatMap(hostsOfCalls),
    isRun: calls.some(({ tool }) => runners.has(tool)),
    paths: calls.filter(({ tool }) => !runners.has(tool)).map(stepPath),
  }
}

/** Returns the hosts of the calls: a call that names none reaches those of its task. */
function hostsOfCalls({ steps, resources }: PlanTask): readonly string[] {
  return steps.flatMap(step => {
    if (step.kind !== "concrete" || step.arguments["network"] !== "hosts") return []
    const { hosts } = step.arguments
    return Array.isArray(hosts) ? hosts.filter(host => typeof host === "string") : resources.hosts
  })
}

function mayRun(step: PlanStep): boolean {
  return step.kind === "open" && toolsForAction(step.action).some(name => runners.has(name))
}

const readers = toolsOfKind("read", "find")
const runners = toolsOfKind("run")

function stepPath({
  id,
  arguments: { path, file, plan_file: list },
}: {
  readonly id: string
  readonly arguments: Readonly<Record<string, Json>>
}) {
  if (typeof list === "string") return `the files that ${exactName(list)} names`
  const written = path ?? file
  return typeof written === "string" ? exactName(written) : `the hosts of step ${exactName(id)}`
}

function union(all: readonly PlanResources[], name: "write" | "hosts"): readonly string[] {
  return [...new Set(all.flatMap(resources => resources[name]))]
}

/** Compares commands as JSON, since a joined text would confuse ["a b"] and ["a", "b"]. */
function distinctCommands(commands: Grant["commands"]): Grant["commands"] {
  return [...new Map(commands.map(argv => [JSON.stringify(argv), argv])).values()]
}
