import * as z from "zod/mini"
import { canonicalJson, type Json } from "../../base/canonical.ts"
import { lazily } from "../../base/lazy.ts"
import { described } from "../events/definition.ts"
import type { PipelinePlan } from "../events/skill-events.ts"
import { isSkillName, isTaskId, newTaskId, taskPriorities } from "../task.ts"
import { pathProblem } from "./output-path.ts"

const SkillName = lazily(() => z.string().check(z.refine(isSkillName, "is not the name of a skill")))
const Text = lazily(() => z.string().check(z.maxLength(100_000)))
const Count = (min: number, max: number) => z.int().check(z.minimum(min), z.maximum(max))

const Step = lazily(() =>
  z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("sequential"),
      skill: SkillName(),
      requirements: z.optional(
        described(Text(), "requirements of this step only, added to those of the pipeline"),
      ),
    }),
    z.strictObject({
      type: z.literal("parallel"),
      skills: z.array(SkillName()).check(z.minLength(1), z.maxLength(50)),
      requirements: z.optional(Text()),
    }),
    z.strictObject({
      type: z.literal("review"),
      reviewer: described(z.string().check(z.minLength(1)), "`director`, or the name of a skill"),
    }),
  ]),
)

/** A pipeline as people write it. */
export const PipelineFile = lazily(() =>
  z.strictObject({
    id: z.string().check(z.refine(isTaskId, "is not an id (letters, digits, dot, dash and underscore)")),
    goal: z.string().check(z.minLength(1)),
    requirements: z._default(Text(), ""),
    inputs: z._default(
      z
        .array(
          z.strictObject({
            path: z
              .string()
              .check(z.refine(path => pathProblem(path) === null, "is not a path below skills.workspace")),
            description: z._default(z.string(), ""),
          }),
        )
        .check(z.maxLength(100)),
      () => [],
    ),
    default_priority: z._default(z.enum(taskPriorities), "P2"),
    steps: z.array(Step()).check(z.minLength(1), z.maxLength(1000)),
    limits: z._default(
      z.strictObject({
        max_parallel: z._default(Count(1, 32), 4),
        max_revisions: z._default(described(Count(0, 20), "maximum number of revisions of one task"), 3),
        max_tokens: z._default(
          described(z.nullable(Count(1, 1_000_000_000)), "maximum tokens of all requests and replies"),
          null,
        ),
      }),
      () => ({ max_parallel: 4, max_revisions: 3, max_tokens: null }),
    ),
  }),
)
export type PipelineFile = z.infer<ReturnType<typeof PipelineFile>>

export interface PipelineProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Reads a decoded pipeline. Returns all problems at once, each with its location. */
export function readPipeline(
  value: Json,
): { readonly pipeline: PipelineFile } | { readonly problems: readonly PipelineProblem[] } {
  const parsed = PipelineFile().safeParse(value)
  if (!parsed.success)
    return {
      problems: parsed.error.issues.map(issue => ({
        path: issue.path.map(part => (typeof part === "symbol" ? String(part) : part)),
        message: messageFor(issue),
      })),
    }
  const problems = orderProblems(parsed.data)
  return problems.length > 0 ? { problems } : { pipeline: parsed.data }
}

function messageFor(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `is missing or is not of the type ${issue.expected}`
    case "invalid_value":
      return `is not one of ${issue.values.join(", ")}`
    case "invalid_union":
      return "is not one of sequential, parallel, review"
    case "too_small":
      return issue.origin === "number" || issue.origin === "int"
        ? `is less than ${issue.minimum}`
        : "is empty"
    case "too_big":
      return issue.origin === "array" ? `has more than ${issue.maximum}` : `is more than ${issue.maximum}`
    case "unrecognized_keys":
      return `has unknown keys: ${issue.keys.join(", ")}`
    default:
      return issue.message
  }
}

function orderProblems({ steps }: PipelineFile): readonly PipelineProblem[] {
  return steps.flatMap((step, index) => {
    const before = steps[index - 1]
    if (step.type === "review" && (before === undefined || before.type === "review"))
      return [
        { path: ["steps", index, "type"], message: "a review must follow a step that produces an output" },
      ]
    if (step.type === "parallel" && new Set(step.skills).size < step.skills.length)
      return [{ path: ["steps", index, "skills"], message: "names a skill twice" }]
    return []
  })
}

export interface PipelineNaming {
  readonly nowIso: string
  readonly sixDigits: () => string
  /** Returns whether a file of another task has the id. */
  readonly isTaken: (id: string) => boolean
}

/** Names every task of a pipeline, once for all its runs. No two tasks get one name. */
export function pipelinePlan(
  file: PipelineFile,
  parallel: number | null,
  { nowIso, sixDigits, isTaken }: PipelineNaming,
): PipelinePlan {
  const named = new Set<string>()
  const newId = (skill: string): string => {
    const id = newTaskId(skill, nowIso, sixDigits())
    if (named.has(id) || isTaken(id)) return newId(skill)
    named.add(id)
    return id
  }
  const { id, goal, requirements, default_priority: priority, inputs, limits } = file
  const steps: PipelinePlan["steps"] = []
  for (const [index, step] of file.steps.entries()) {
    if (step.type === "review") continue
    const next = file.steps[index + 1]
    const skills = step.type === "parallel" ? step.skills : [step.skill]
    steps.push({
      tasks: skills.map(skill => ({ id: newId(skill), skill })),
      requirements: [requirements, step.requirements ?? ""].filter(text => text !== "").join("\n\n"),
      reviewer: next?.type === "review" ? next.reviewer : null,
    })
  }
  return {
    pipelineId: id,
    goal,
    priority,
    inputs,
    steps,
    limits: {
      parallelMax: parallel ?? limits.max_parallel,
      revisionsMax: limits.max_revisions,
      tokensMax: limits.max_tokens,
    },
  }
}

/** Returns whether two plans ask for the same, apart from the names of their tasks and from how many run at once. */
export function isSamePipeline(one: PipelinePlan, other: PipelinePlan): boolean {
  return canonicalJson(asked(one)) === canonicalJson(asked(other))
}

function asked({ steps, limits: { revisionsMax, tokensMax }, ...plan }: PipelinePlan) {
  const unnamed = steps.map(({ tasks, ...step }) => ({ ...step, skills: tasks.map(({ skill }) => skill) }))
  return { ...plan, revisionsMax, tokensMax, steps: unnamed }
}
