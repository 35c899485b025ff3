import { modes } from "../../domain/model-choice.ts"
import type { PipelineLimits, PipelineSettings } from "../../domain/pipeline-settings.ts"
import type { FlagSpecs, FlagValues } from "../parse/flags.ts"

/** The flags of commands that ask models: the mode, and files that supply or record replies. */
export const replyFlags = {
  mode: {
    kind: "choice",
    choices: modes,
    summary:
      "where models may run: on this machine, elsewhere too (burst), or only at the configured endpoint",
  },
  script: { kind: "text", value: "FILE", summary: "take the model's replies from this file" },
  record: { kind: "text", value: "FILE", summary: "write the model's replies to this file" },
  replay: {
    kind: "text",
    value: "FILE",
    summary: "take the model's replies from a recording made by --record",
  },
} as const satisfies FlagSpecs

/** The flags of `ask`, which changes nothing: the model, and the limits of reading. */
export const askFlags = {
  model: { kind: "text", value: "NAME", summary: "the model to use: NAME or PROVIDER/NAME" },
  "max-turns": count("maximum replies of the model in one step (10)", 1, 1000),
  "max-context-tokens": count(
    "maximum tokens of one request to the model; older results are left out (no limit)",
    256,
    10_000_000,
  ),
  "max-tokens": count(
    "maximum tokens of all requests and replies of the session (no limit)",
    1,
    1_000_000_000_000,
  ),
  "planner-timeout": seconds("the planner", "120"),
  "executor-timeout": seconds("the executor", "no limit"),
  "executor-step-timeout": seconds("one step", "120"),
  "context-files": { kind: "list", value: "GLOB", summary: "files the planner should know; may be repeated" },
  "show-model-progress": { kind: "boolean", summary: "show what the model writes while it writes it" },
  wait: { kind: "boolean", summary: "wait while another session works in this workspace" },
  ...replyFlags,
} as const satisfies FlagSpecs

/** The flags of `run` and `resume`: the model, the limits, and who answers questions. */
export const sessionFlags = {
  model: askFlags.model,
  "plan-only": { kind: "boolean", summary: "stop when there is a plan; `acode resume` continues" },
  "approve-plan": { kind: "boolean", summary: "let a person approve the plan, whatever --yes says" },
  "max-cycles": count("maximum retry rounds after a failed check or review, 0 to 10 (3)", 0, 10),
  "max-turns": askFlags["max-turns"],
  "max-context-tokens": askFlags["max-context-tokens"],
  "max-tokens": askFlags["max-tokens"],
  "planner-timeout": askFlags["planner-timeout"],
  "executor-timeout": askFlags["executor-timeout"],
  "verifier-timeout": seconds("the verifier", "180"),
  "reviewer-timeout": seconds("the reviewer", "120"),
  "executor-step-timeout": askFlags["executor-step-timeout"],
  "skip-verify": { kind: "boolean", summary: "run no checks; the result is marked as unverified" },
  "require-review-approval": { kind: "boolean", summary: "let a person accept the review" },
  "context-files": askFlags["context-files"],
  "show-model-progress": askFlags["show-model-progress"],
  follow: { kind: "boolean", summary: "always on: events are shown as they happen" },
  wait: askFlags.wait,
  ...replyFlags,
} as const satisfies FlagSpecs

export type SessionFlags = FlagValues<typeof sessionFlags>

/** The values of the flags that `ask` does not have. */
export const unsaid = {
  "plan-only": false,
  "approve-plan": false,
  "skip-verify": false,
  "require-review-approval": false,
  follow: false,
  "max-cycles": undefined,
  "verifier-timeout": undefined,
  "reviewer-timeout": undefined,
} as const

function count(summary: string, min: number, max: number) {
  return { kind: "number", value: "N", summary, min, max, isWhole: true } as const
}

function seconds(what: string, usual: string) {
  return {
    kind: "number",
    value: "SECONDS",
    summary: `timeout of ${what} (${usual})`,
    min: 0.01,
    max: 7 * 24 * 3600,
    isWhole: false,
  } as const
}

/**
 * Returns a function that applies the flags to the settings of a session; other settings stay. Throws at once when a
 * value is out of range or has no effect.
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
    ...(settings.asksOnly === true ? { asksOnly: true } : {}),
    // Not inherited: resuming a session with --plan-only executes its plan.
    planOnly: flags["plan-only"],
    approvePlan: settings.approvePlan || flags["approve-plan"],
    skipVerify: settings.skipVerify || flags["skip-verify"],
    requireReviewApproval: settings.requireReviewApproval || flags["require-review-approval"],
    yes: yes === undefined ? settings.yes : yes === true ? "default" : yes,
    contextFiles: [...new Set([...settings.contextFiles, ...flags["context-files"]])],
  })
}

function changeOfLimits(flags: SessionFlags): (limits: PipelineLimits) => PipelineLimits {
  return limits => ({
    ...limits,
    cyclesMax: flags["max-cycles"] ?? limits.cyclesMax,
    turnsMax: flags["max-turns"] ?? limits.turnsMax,
    contextTokensMax: flags["max-context-tokens"] ?? limits.contextTokensMax,
    tokensMax: flags["max-tokens"] ?? limits.tokensMax,
    stageTimeoutMs: {
      planner: milliseconds(flags["planner-timeout"]) ?? limits.stageTimeoutMs.planner,
      executor: milliseconds(flags["executor-timeout"]) ?? limits.stageTimeoutMs.executor,
      verifier: milliseconds(flags["verifier-timeout"]) ?? limits.stageTimeoutMs.verifier,
      reviewer: milliseconds(flags["reviewer-timeout"]) ?? limits.stageTimeoutMs.reviewer,
    },
    stepTimeoutMs: milliseconds(flags["executor-step-timeout"]) ?? limits.stepTimeoutMs,
  })
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}
