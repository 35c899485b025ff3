import { z } from "zod"
import { defaultRetryableErrors } from "../../domain/skill/execution-error.ts"
import { modelTiers } from "../../skills/contract.ts"
import { defaultConfig } from "../defaults.ts"

const defaults = defaultConfig.skills

/** A relative path without `..`, as it is normally written; `.` alone is the root. */
const plainPath = /^(?![/~])(?!.*\/\/)(?!(?:.*\/)?\.\.?(?:\/|$)(?<!^\.))(?!.*\/$)[^\0\\]+$/

/** The `skills:` section: where skills are found and how their tasks are executed. */
export function skillsSection() {
  return z
    .strictObject({
      workspace: z
        .string()
        .regex(plainPath)
        .max(500)
        .default(defaults.workspace)
        .describe("The folder of tasks/, context/, outputs/ and reviews/, below the root of the workspace."),
      directories: z
        .array(
          z
            .string()
            .regex(/^(\/|~\/)[^\0]*$/)
            .max(1000)
            .describe("an absolute path, or one below ~/"),
        )
        .max(50)
        .default([...defaults.directories])
        .describe("Further folders of skills, one folder for each skill; they come before the usual ones."),
      default_tier: z
        .enum(modelTiers)
        .default(defaults.default_tier)
        .describe("Which of models.tiers answers a task whose metadata has no model_tier."),
      ...requestKeys(),
      ...pathKeys(),
      max_parallel: z
        .number()
        .int()
        .min(1)
        .max(32)
        .default(defaults.max_parallel)
        .describe("How many tasks of one command are answered at the same time."),
    })
    .prefault({})
    .describe("Skills, and the tasks that they do.")
}

function requestKeys() {
  return {
    timeout_seconds: z
      .number()
      .min(0.01)
      .max(24 * 3600)
      .default(defaults.timeout_seconds)
      .describe("How long one attempt to get a reply may take."),
    max_tokens: z
      .number()
      .int()
      .min(16)
      .max(10_000_000)
      .default(defaults.max_tokens)
      .describe("How long an output may be, in tokens; what is beyond it is cut off, with a warning."),
    retry_count: z
      .number()
      .int()
      .min(0)
      .max(20)
      .default(defaults.retry_count)
      .describe("How often a model that did not answer is asked again."),
    retry_delay_ms: z
      .number()
      .int()
      .min(0)
      .max(600_000)
      .default(defaults.retry_delay_ms)
      .describe(
        "How long to wait before the first of them, doubled for each further one; a server may ask for more.",
      ),
    retry_jitter: z
      .boolean()
      .default(defaults.retry_jitter)
      .describe("Waits a random part of that instead, so that many runners do not come back at once."),
    retryable: z
      .array(z.enum(defaultRetryableErrors))
      .max(10)
      .default([...defaults.retryable])
      .describe("After which errors the model is asked again."),
  }
}

function pathKeys() {
  return {
    squads: z
      .array(
        z.strictObject({
          name: z
            .string()
            .regex(/^[A-Za-z0-9][\w-]{0,63}$/)
            .describe("a name that can be a folder"),
          skills: z.array(z.string().max(64)).max(200).describe("names of skills"),
        }),
      )
      .max(200)
      .default([...defaults.squads])
      .describe(
        "Groups of skills. The output of a skill of a squad is outputs/SQUAD/SKILL/TASK.md; metadata.squad of a skill says the same.",
      ),
    foundation: z
      .string()
      .max(64)
      .default(defaults.foundation)
      .describe("The skill that writes the context of all others."),
    context: z
      .string()
      .regex(plainPath)
      .max(500)
      .default(defaults.context)
      .describe("The file that every task is told as its context, below skills.workspace."),
    strict_context: z
      .boolean()
      .default(defaults.strict_context)
      .describe("Fails a task where that file is missing, unless it is the task that makes it."),
  }
}
