import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { described } from "./events/definition.ts"
import { editFormats, modes, protocols, rungs } from "./model-choice.ts"
import type { Stage } from "./stage.ts"

const Count = lazily(() => z.int().check(z.nonnegative()))

/** What bounds a session. Recorded when it starts; a resume may change it and records that. */
export const PipelineLimits = lazily(() =>
  z.strictObject({
    /** How often each backward edge may be taken. */
    cyclesMax: Count(),
    turnsMax: Count(),
    /** How often a request that its server finds too long is made again, each time shorter. */
    stepRetriesMax: Count(),
    /** How often a model that could not answer is asked again. */
    modelRetriesMax: described(z.optional(Count()), "not in sessions from before it was a limit of its own"),
    stageRetriesMax: z.strictObject({
      planner: Count(),
      executor: Count(),
      verifier: Count(),
      reviewer: Count(),
    }),
    /** Null is no limit. */
    stageTimeoutMs: z.strictObject({
      planner: z.nullable(Count()),
      executor: z.nullable(Count()),
      verifier: z.nullable(Count()),
      reviewer: z.nullable(Count()),
    }),
    stepTimeoutMs: Count(),
    /** What one request to a model may hold; null leaves it to the model. */
    contextTokensMax: z.nullable(Count()),
    /** What all requests and replies of the session may take together; null is no limit. */
    tokensMax: z.nullable(Count()),
  }),
)
export type PipelineLimits = z.infer<ReturnType<typeof PipelineLimits>>

/** One model as a session uses it. */
export const StageModel = lazily(() =>
  z.strictObject({
    name: z.string(),
    rung: z.enum(rungs),
    editFormat: z.enum(editFormats),
    /** What a request and its reply may take together. */
    windowTokens: Count(),
    outputTokensMax: Count(),
  }),
)
export type StageModel = z.infer<ReturnType<typeof StageModel>>

/** Which server is asked, and which of its models by whom. */
export const ModelSelection = lazily(() =>
  z.strictObject({
    protocol: z.enum(protocols),
    endpoint: z.string(),
    /** Who agreed that what a model has to know leaves this machine; null when it does not. */
    consentBy: z.nullable(z.string()),
    planner: StageModel(),
    executor: StageModel(),
    verifier: StageModel(),
    reviewer: StageModel(),
  }),
)
export type ModelSelection = z.infer<ReturnType<typeof ModelSelection>>

export const PipelineSettings = lazily(() =>
  z.strictObject({
    /** What a person asked for by `--model`. */
    model: z.nullable(z.string()),
    mode: z.enum(modes),
    /** Null with a script or a recording. */
    selection: z.nullable(ModelSelection()),
    limits: PipelineLimits(),
    /** Stop after the plan. */
    planOnly: z.boolean(),
    /** Always stop for a person at the plan, whatever `--yes` says. */
    approvePlan: z.boolean(),
    skipVerify: z.boolean(),
    requireReviewApproval: z.boolean(),
    /** What `--yes` was given, for a resume without flags. */
    yes: z.nullable(z.string()),
    contextFiles: z.array(z.string()),
  }),
)
export type PipelineSettings = z.infer<ReturnType<typeof PipelineSettings>>

export const defaultLimits: PipelineLimits = Object.freeze({
  cyclesMax: 3,
  turnsMax: 10,
  stepRetriesMax: 3,
  modelRetriesMax: 2,
  stageRetriesMax: { planner: 2, executor: 2, verifier: 2, reviewer: 1 },
  stageTimeoutMs: { planner: 120_000, executor: null, verifier: 180_000, reviewer: 120_000 },
  stepTimeoutMs: 120_000,
  contextTokensMax: null,
  tokensMax: null,
})

/** Of a session whose person said nothing, but for its limits. */
export const plainSettings: Omit<PipelineSettings, "limits"> = Object.freeze({
  ...{ model: null, mode: "local-only", selection: null, yes: null, contextFiles: [] },
  ...{ planOnly: false, approvePlan: false, skipVerify: false, requireReviewApproval: false },
})

/** Nothing runs round in circles more often than this, whoever says so. */
export const cyclesCeiling = 10

/** How often each backward edge may really be taken. */
export function cyclesAllowed({ cyclesMax }: PipelineLimits): number {
  return Math.min(cyclesMax, cyclesCeiling)
}

/** What one request of a stage may hold: what a person allowed, or what leaves room for the reply in the window. */
export function requestTokensMax(settings: PipelineSettings, stage: Stage, cutOff = 0): number | null {
  const { limits, selection } = settings
  if (selection === null) return limits.contextTokensMax
  const fitting = selection[stage].windowTokens - replyTokensMax(selection, stage, cutOff)
  return Math.min(fitting, limits.contextTokensMax ?? fitting)
}

/**
 * How long a reply of a stage may be. A model that thinks may need more than its answer does: for each reply that was
 * cut off it gets twice as much, where nobody is paid for it.
 */
export function replyTokensMax(selection: ModelSelection, stage: Stage, cutOff = 0): number {
  const { windowTokens, outputTokensMax } = selection[stage]
  const wanted = selection.consentBy === null ? outputTokensMax * 2 ** cutOff : outputTokensMax
  return Math.min(wanted, longestReply(windowTokens))
}

/** A reply never takes more than half of the window: the request needs room as well. */
export function longestReply(windowTokens: number): number {
  return Math.floor(windowTokens / 2)
}
