import { z } from "zod"
import { defaultRetryableErrors } from "../../domain/skill/execution-error.ts"
import { modelTiers } from "../../skills/contract.ts"
import { defaultConfig } from "../defaults.ts"

const defaults = defaultConfig.skills

/** Matches a normalised relative path without `..`; `.` alone is the root. */
const plainPath = /^(?![/~])(?!.*\/\/)(?!(?:.*\/)?\.\.?(?:\/|$)(?<!^\.))(?!.*\/$)[^\0\\]+$/

/** Returns the `skills:` section: where acode finds skills and how it executes their tasks. */
export function skillsSection() {
  return z
    .strictObject({
      workspace: z
        .string()
        .regex(plainPath)
        .max(500)
        .default(defaults.workspace)
        .describe(
          "The folder that holds tasks/, context/, outputs/ and reviews/, relative to the root of the workspace.",
        ),
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
        .describe(
          "Additional directories that hold one folder for each skill; searched before the default directories.",
        ),
      default_tier: z
        .enum(modelTiers)
        .default(defaults.default_tier)
        .describe("The entry of models.tiers for a task whose metadata has no model_tier."),
      ...requestKeys(),
      ...pathKeys(),
      max_parallel: z
        .number()
        .int()
        .min(1)
        .max(32)
        .default(defaults.max_parallel)
        .describe("Maximum number of tasks that one command executes at the same time."),
    })
    .prefault({})
    .describe("Skills and their tasks.")
}

function requestKeys() {
  return {
    timeout_seconds: z
      .number()
      .min(0.01)
      .max(24 * 3600)
      .default(defaults.timeout_seconds)
      .describe("Timeout of one request to the model in seconds."),
    max_tokens: z
      .number()
      .int()
      .min(16)
      .max(10_000_000)
      .default(defaults.max_tokens)
      .describe("Maximum length of an output in tokens; a longer output is cut off, with a warning."),
    retry_count: z
      .number()
      .int()
      .min(0)
      .max(20)
      .default(defaults.retry_count)
      .describe("Maximum number of retries of a failed request."),
    retry_delay_ms: z
      .number()
      .int()
      .min(0)
      .max(600_000)
      .default(defaults.retry_delay_ms)
      .describe(
        "Milliseconds before the first retry, doubled for each further retry; longer where the server asks for it.",
      ),
    retry_jitter: z
      .boolean()
      .default(defaults.retry_jitter)
      .describe(
        "Whether the wait is a random part of the delay, so that many runners do not retry at the same moment.",
      ),
    retryable: z
      .array(z.enum(defaultRetryableErrors))
      .max(10)
      .default([...defaults.retryable])
      .describe("The errors after which a request is retried."),
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
        "Groups of skills. A skill of a squad writes its output to outputs/SQUAD/SKILL/TASK.md; metadata.squad in the SKILL.md has the same effect.",
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
      .describe("The file that is part of the prompt of every task, relative to skills.workspace."),
    strict_context: z
      .boolean()
      .default(defaults.strict_context)
      .describe(
        "Whether a task fails when the context file is missing; the task of the foundation skill never does.",
      ),
  }
}
