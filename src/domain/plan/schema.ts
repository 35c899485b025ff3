import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { described } from "../events/definition.ts"
import { Criterion, planIntents, preconditions } from "./plan.ts"
import { stepActions } from "./tool-traits.ts"

/** The sizes people use when they guess effort; a finer scale would pretend more precision. */
const complexities = [1, 2, 3, 5, 8, 13, 21, 34] as const

/** No invisible characters and no space at either end: two ids that look the same are the same. */
const idPattern = /^(?:[^\p{C}\s](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\s])?)?$/u

const Id = lazily(() => z.string().check(z.minLength(1), z.maxLength(128), z.regex(idPattern)))
const Word = lazily(() => z.string().check(z.minLength(1)))

/**
 * Returns the schema of a list. The description is inside of the default: outside, one array would be shared by every
 * plan that omits it.
 */
function listOf<Item extends z.ZodMiniType>(item: Item, description: string) {
  return z._default(described(z.array(item), description), () => [])
}

const Evidence = lazily(() => listOf(z.string(), "evidence that the author of the plan relied on"))

const call = lazily(() => ({
  tool: described(z.string(), "the tool, under any of its names, except finish_step"),
  arguments: described(z.record(z.string(), z.json()), "passed to the tool exactly as written"),
  precondition: described(
    z.optional(z.nullable(z.string())),
    `checked before the tool is called: ${preconditions.join(", ")}, or an older spelling such as "file exists"`,
  ),
  requires_confirmation: described(z._default(z.boolean(), false), "a person has to confirm this step"),
}))

const stepTexts = lazily(() => ({
  id: described(Id(), "unique in its task"),
  title: z.optional(z.string()),
  description: z._default(z.string(), ""),
  depends_on: listOf(z.string(), "steps of the same task that run before it"),
}))

const OpenStepFile = lazily(() =>
  described(
    z.strictObject({ ...stepTexts(), action: z.enum(stepActions) }),
    "an open step: the model chooses the calls",
  ),
)

const ConcreteStepFile = lazily(() =>
  described(z.strictObject({ ...stepTexts(), ...call() }), "a concrete step: one call, exactly as written"),
)

const ResourcesFile = lazily(() =>
  z.strictObject({
    read: listOf(Word(), "globs below the workspace root"),
    write: listOf(Word(), "globs below the workspace root that approving the plan lets open steps write"),
    commands: listOf(
      z.array(Word()).check(z.minLength(1)),
      "leading arguments of the commands that open steps may run",
    ),
    hosts: listOf(
      Word(),
      "the only hosts that commands of the task with the network `hosts` may reach: example.com, *.example.com, each with :port, or without for 443 and 80",
    ),
  }),
)

const TaskFile = lazily(() =>
  z.strictObject({
    id: described(Id(), "unique in the plan"),
    title: z.optional(z.string()),
    description: z._default(z.string(), ""),
    complexity: z._default(z.literal(complexities), 1),
    depends_on: listOf(z.string(), "tasks that run before it"),
    resources: z.optional(ResourcesFile()),
    acceptance: listOf(Criterion(), "conditions that must hold when the task is done"),
    steps: z.array(z.xor([OpenStepFile(), ConcreteStepFile()])).check(z.minLength(1), z.maxLength(1000)),
  }),
)

export const FullPlan = lazily(() =>
  described(
    z.strictObject({
      plan_id: z.optional(Id()),
      goal: Word(),
      intent: z.enum(planIntents),
      tasks: z.array(TaskFile()).check(z.minLength(1), z.maxLength(100)),
      evidence_referenced: Evidence(),
    }),
    "tasks with steps",
  ),
)
export type FullPlan = z.infer<ReturnType<typeof FullPlan>>

export const FlatPlan = lazily(() =>
  described(
    z.strictObject({
      plan_id: Id(),
      intent: z.enum(planIntents),
      steps: z
        .array(z.strictObject({ step_id: described(Id(), "unique in the plan"), ...call() }))
        .check(z.minLength(1), z.maxLength(1000)),
      evidence_referenced: Evidence(),
    }),
    "concrete steps in the order they run",
  ),
)
export type FlatPlan = z.infer<ReturnType<typeof FlatPlan>>

/**
 * The two forms, for the JSON Schema. Reading chooses the form first, so that a problem is reported for one form only.
 */
export const PlanFile = lazily(() => z.xor([FullPlan(), FlatPlan()]))
