import { z } from "zod"
import { cyclesCeiling } from "../../domain/pipeline-settings.ts"
import { defaultConfig } from "../defaults.ts"

const { orchestration: defaults, executor: executorDefaults, planner: plannerDefaults } = defaultConfig

/** The smallest timeout in seconds: a shorter stage or step could not do anything. */
const secondsMin = 0.01
const secondsMax = 7 * 24 * 3600

/** Returns the `orchestration:` section: timeouts of the stages and numbers of retries. */
export function orchestrationSection() {
  return z
    .strictObject({
      planner_timeout_seconds: timeout("planner"),
      executor_timeout_seconds: timeout("executor"),
      verifier_timeout_seconds: timeout("verifier"),
      reviewer_timeout_seconds: timeout("reviewer"),
      cycle_limit: count(cyclesCeiling)
        .default(defaults.cycle_limit)
        .describe("Maximum retry rounds after a failed check or review, counted for each pair of stages."),
      step_retry_limit: count(20)
        .default(defaults.step_retry_limit)
        .describe(
          "Maximum number of times that a request is shortened and sent again when its server finds it too long.",
        ),
      stage_retry_limit: count(20)
        .default(defaults.stage_retry_limit)
        .describe("Maximum number of retries of a stage; the reviewer is retried at most once."),
    })
    .prefault({})
    .describe("Timeouts of the stages of a session, and numbers of retries.")
}

/** Returns the `planner:` section. */
export function plannerSection() {
  return z
    .strictObject({
      explore_turns_max: count(1000)
        .default(plannerDefaults.explore_turns_max)
        .describe("Maximum number of model replies in which the planner reads the project before it plans."),
    })
    .prefault({})
    .describe("How much the planner may read.")
}

/** Returns the keys of the `executor:` section that limit a step. */
export function executorLimits() {
  return {
    max_turns_per_step: count(1000)
      .min(1)
      .default(executorDefaults.max_turns_per_step)
      .describe("Maximum number of model replies in one step."),
    step_timeout_seconds: seconds()
      .default(executorDefaults.step_timeout_seconds)
      .describe("Timeout of one step in seconds, without the time that questions wait for an answer."),
  }
}

function timeout(stage: "planner" | "executor" | "verifier" | "reviewer") {
  return seconds()
    .nullable()
    .default(defaults[`${stage}_timeout_seconds`])
    .describe(`Timeout of the ${stage} in seconds; null means no limit.`)
}

function seconds() {
  return z.number().min(secondsMin).max(secondsMax)
}

function count(max: number) {
  return z.number().int().min(0).max(max)
}
