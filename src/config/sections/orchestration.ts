import { z } from "zod"
import { cyclesCeiling } from "../../domain/pipeline-settings.ts"
import { defaultConfig } from "../defaults.ts"

const { orchestration: defaults, executor: executorDefaults } = defaultConfig

/** Seconds; a stage or step that takes less than this cannot have done anything. */
const secondsMin = 0.01
const secondsMax = 7 * 24 * 3600

/** The `orchestration:` section: how long each stage may take, and how often something is tried again. */
export function orchestrationSection() {
  return z
    .strictObject({
      planner_timeout_seconds: timeout("planner"),
      executor_timeout_seconds: timeout("executor"),
      verifier_timeout_seconds: timeout("verifier"),
      reviewer_timeout_seconds: timeout("reviewer"),
      cycle_limit: count(cyclesCeiling)
        .default(defaults.cycle_limit)
        .describe("How often each way back may be taken: from a failed check or review to earlier work."),
      step_retry_limit: count(20)
        .default(defaults.step_retry_limit)
        .describe("How often a request that its server finds too long is made again, each time shorter."),
      stage_retry_limit: count(20)
        .default(defaults.stage_retry_limit)
        .describe("How often a stage is tried again; the reviewer at most once."),
    })
    .prefault({})
    .describe("How long the stages of a session may take, and how often something is tried again.")
}

/** What the `executor:` section says about its steps. */
export function executorLimits() {
  return {
    max_turns_per_step: count(1000)
      .min(1)
      .default(executorDefaults.max_turns_per_step)
      .describe("How many replies of the model one step may take."),
    step_timeout_seconds: seconds()
      .default(executorDefaults.step_timeout_seconds)
      .describe("How long one step may take, without the time in which a person is asked."),
  }
}

function timeout(stage: "planner" | "executor" | "verifier" | "reviewer") {
  return seconds()
    .nullable()
    .default(defaults[`${stage}_timeout_seconds`])
    .describe(`How long the ${stage} may take, in seconds; null is as long as it needs.`)
}

function seconds() {
  return z.number().min(secondsMin).max(secondsMax)
}

function count(max: number) {
  return z.number().int().min(0).max(max)
}
