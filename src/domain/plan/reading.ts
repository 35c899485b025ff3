import { assert } from "../../base/assert.ts"
import type { Json } from "../../base/canonical.ts"
import {
  type ConcreteStep,
  type Plan,
  type PlanResources,
  type PlanStep,
  type PlanTask,
  type Precondition,
  planHash,
} from "./plan.ts"
import { type PlanFinding, type PlanProblem, planProblems, shapeFindings } from "./problem.ts"
import { type PlanTools, readPrecondition, ruleFindings } from "./rules.ts"
import { FlatPlan, FullPlan } from "./schema.ts"
import { parsePlanJson } from "./strict-json.ts"

type JsonObject = { readonly [name: string]: Json }

export type PlanReading = { readonly plan: Plan } | { readonly problems: readonly PlanProblem[] }

/** Returns the plan in a text, or all problems of the text. */
export function readPlan(text: string, tools: PlanTools): PlanReading {
  const { value, findings } = parsePlanJson(text)
  if (value === null) return refused(findings.length > 0 ? findings : [notAnObject])
  if (typeof value !== "object" || Array.isArray(value)) return refused([...findings, notAnObject])
  // as: neither an array nor a single value, which leaves an object.
  const object = value as JsonObject
  const shaped = shapeOf(object)
  const found = [...findings, ...shaped.findings, ...ruleFindings(object, tools)]
  if (shaped.build === null || found.length > 0) return refused(found)
  return { plan: shaped.build(planHash(value)) }
}

const notAnObject: PlanFinding = { code: "E001", path: [], message: "a plan is a JSON object" }

function refused(findings: readonly PlanFinding[]): PlanReading {
  return { problems: planProblems(findings) }
}

interface Shaped {
  /** Builds the plan once nothing else is wrong with it; null if it does not have the shape of a plan. */
  readonly build: ((hash: string) => Plan) | null
  readonly findings: readonly PlanFinding[]
}

function shapeOf(value: JsonObject): Shaped {
  const isFlat = Object.hasOwn(value, "steps") && !Object.hasOwn(value, "tasks")
  const parsed = isFlat ? FlatPlan().safeParse(value) : FullPlan().safeParse(value)
  if (!parsed.success) return { build: null, findings: shapeFindings(parsed.error.issues, value) }
  const { data } = parsed
  return { build: hash => ("steps" in data ? flatPlan(data, hash) : fullPlan(data, hash)), findings: [] }
}

function fullPlan(file: FullPlan, hash: string): Plan {
  return {
    planId: file.plan_id ?? `plan-${hash.replace("sha256:", "").slice(0, 12)}`,
    goal: file.goal,
    intent: file.intent,
    tasks: file.tasks.map(planTask),
    evidenceReferenced: file.evidence_referenced,
    hash,
  }
}

function planTask(task: FullPlan["tasks"][number]): PlanTask {
  return {
    id: task.id,
    title: task.title ?? task.id,
    description: task.description,
    complexity: task.complexity,
    dependsOn: task.depends_on,
    resources: task.resources ?? noResources,
    acceptance: task.acceptance,
    steps: task.steps.map(planStep),
  }
}

const noResources: PlanResources = { read: [], write: [], commands: [], hosts: [] }

function planStep(step: FullPlan["tasks"][number]["steps"][number]): PlanStep {
  const base = {
    id: step.id,
    title: step.title ?? step.id,
    description: step.description,
    dependsOn: step.depends_on,
  }
  return "action" in step ? { ...base, kind: "open", action: step.action } : { ...base, ...call(step) }
}

/** Returns one task without dependencies: its steps run in the order of the file. */
function flatPlan(file: FlatPlan, hash: string): Plan {
  const steps = file.steps.map(
    (step): ConcreteStep => ({
      id: step.step_id,
      title: step.step_id,
      description: "",
      dependsOn: [],
      ...call(step),
    }),
  )
  const task: PlanTask = {
    id: "plan",
    title: file.plan_id,
    description: "",
    complexity: 1,
    dependsOn: [],
    resources: noResources,
    acceptance: [],
    steps,
  }
  const { plan_id: planId, intent, evidence_referenced: evidenceReferenced } = file
  return { planId, goal: planId, intent, tasks: [task], evidenceReferenced, hash }
}

function call(step: FlatPlan["steps"][number] | Extract<FullStep, { tool: string }>) {
  return {
    kind: "concrete" as const,
    tool: step.tool,
    arguments: step.arguments,
    precondition: preconditionOf(step.precondition),
    requiresConfirmation: step.requires_confirmation,
  }
}

type FullStep = FullPlan["tasks"][number]["steps"][number]

function preconditionOf(written: string | null | undefined): Precondition {
  const precondition = readPrecondition(written)
  assert(precondition !== null, "the rules refuse a precondition that is not on the list")
  return precondition
}
