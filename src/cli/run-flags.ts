import { modes } from "../domain/model-choice.ts"
import type { PipelineLimits, PipelineSettings } from "../domain/pipeline/settings.ts"
import { usageFailure } from "./flag-reading.ts"
import type { FlagSpecs, FlagValues } from "./flags.ts"

/** What `run` and `resume` both take: the model, the limits, and who is asked. */
export const sessionFlags = {
  model: { kind: "text", value: "NAME", summary: "the model that is asked: NAME or PROVIDER/NAME" },
  "plan-only": { kind: "boolean", summary: "stop when there is a plan; `acode resume` goes on" },
  "approve-plan": { kind: "boolean", summary: "let a person approve the plan, whatever --yes says" },
  "max-cycles": { kind: "number", value: "N", summary: "how often each way back may be taken, 0 to 10 (3)" },
  "max-turns": { kind: "number", value: "N", summary: "how many replies of the model a step may take (10)" },
  "max-context-tokens": {
    kind: "number",
    value: "N",
    summary: "how long a request to the model may be; older results are left out (no limit)",
  },
  "max-tokens": {
    kind: "number",
    value: "N",
    summary: "how many tokens all requests and replies of the session may take (no limit)",
  },
  "planner-timeout": seconds("the planner", "120"),
  "executor-timeout": seconds("the executor", "no limit"),
  "verifier-timeout": seconds("the verifier", "180"),
  "reviewer-timeout": seconds("the reviewer", "120"),
  "executor-step-timeout": seconds("one step", "120"),
  "skip-verify": { kind: "boolean", summary: "check nothing: the result is marked as unverified" },
  "require-review-approval": { kind: "boolean", summary: "let a person accept the review" },
  "context-files": { kind: "list", value: "GLOB", summary: "files the planner should know; may be repeated" },
  "show-model-progress": { kind: "boolean", summary: "show what the model writes while it writes it" },
  follow: { kind: "boolean", summary: "always so: what happens is shown as it happens" },
  wait: { kind: "boolean", summary: "wait while another session works in this workspace" },
  mode: {
    kind: "choice",
    choices: modes,
    summary: "where models may be: on this machine, elsewhere too (burst), only at the configured endpoint",
  },
  script: { kind: "text", value: "FILE", summary: "take the model's replies from this file" },
  record: { kind: "text", value: "FILE", summary: "write the model's replies to this file" },
  replay: { kind: "text", value: "FILE", summary: "take the model's replies from such a recording" },
} as const satisfies FlagSpecs

export type SessionFlags = FlagValues<typeof sessionFlags>

function seconds(what: string, usual: string) {
  return { kind: "number", value: "SECONDS", summary: `how long ${what} may take (${usual})` } as const
}

/**
 * What the flags change in the settings of a session; what is not given stays as it was. Throws before anything has
 * begun when a value is out of range or has no effect.
 */
export function settingsChange(
  flags: SessionFlags,
  yes: string | true | undefined,
): (settings: PipelineSettings) => PipelineSettings {
  const limitsChange = changeOfLimits(flags)
  return settings => ({
    model: flags.model ?? settings.model,
    mode: flags.mode ?? settings.mode,
    selection: settings.selection,
    limits: limitsChange(settings.limits),
    // Whoever resumes a session that had only to plan has seen the plan and wants it done.
    planOnly: flags["plan-only"],
    approvePlan: settings.approvePlan || flags["approve-plan"],
    skipVerify: settings.skipVerify || flags["skip-verify"],
    requireReviewApproval: settings.requireReviewApproval || flags["require-review-approval"],
    yes: yes === undefined ? settings.yes : yes === true ? "default" : yes,
    contextFiles: [...new Set([...settings.contextFiles, ...flags["context-files"]])],
  })
}

function changeOfLimits(flags: SessionFlags): (limits: PipelineLimits) => PipelineLimits {
  const cyclesMax = countIn(flags, "max-cycles", 0, 10)
  const turnsMax = countIn(flags, "max-turns", 1, 1000)
  const contextTokensMax = countIn(flags, "max-context-tokens", 256, 10_000_000)
  const tokensMax = countIn(flags, "max-tokens", 1, 1_000_000_000_000)
  const timeouts = {
    planner: millisecondsIn(flags, "planner-timeout"),
    executor: millisecondsIn(flags, "executor-timeout"),
    verifier: millisecondsIn(flags, "verifier-timeout"),
    reviewer: millisecondsIn(flags, "reviewer-timeout"),
  }
  const stepTimeoutMs = millisecondsIn(flags, "executor-step-timeout")
  return limits => ({
    ...limits,
    cyclesMax: cyclesMax ?? limits.cyclesMax,
    turnsMax: turnsMax ?? limits.turnsMax,
    contextTokensMax: contextTokensMax ?? limits.contextTokensMax,
    tokensMax: tokensMax ?? limits.tokensMax,
    stageTimeoutMs: {
      planner: timeouts.planner ?? limits.stageTimeoutMs.planner,
      executor: timeouts.executor ?? limits.stageTimeoutMs.executor,
      verifier: timeouts.verifier ?? limits.stageTimeoutMs.verifier,
      reviewer: timeouts.reviewer ?? limits.stageTimeoutMs.reviewer,
    },
    stepTimeoutMs: stepTimeoutMs ?? limits.stepTimeoutMs,
  })
}

type NumberFlag = {
  [Name in keyof SessionFlags]: SessionFlags[Name] extends number | undefined ? Name : never
}[keyof SessionFlags]

function countIn(flags: SessionFlags, name: NumberFlag, min: number, max: number): number | null {
  const given = flags[name]
  if (given === undefined) return null
  if (Number.isInteger(given) && given >= min && given <= max) return given
  throw usageFailure("ACODE-CLI-002", `--${name} is a whole number from ${min} to ${max}, not ${given}`)
}

const secondsMin = 0.01
const secondsMax = 7 * 24 * 3600

function millisecondsIn(flags: SessionFlags, name: NumberFlag): number | null {
  const given = flags[name]
  if (given === undefined) return null
  if (given >= secondsMin && given <= secondsMax) return Math.round(given * 1000)
  throw usageFailure(
    "ACODE-CLI-002",
    `--${name} is a number of seconds from ${secondsMin} to ${secondsMax}, not ${given}`,
  )
}
