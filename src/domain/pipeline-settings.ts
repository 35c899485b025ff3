import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { described } from "./events/definition.ts"
import { editFormats, modes, protocols, rungs } from "./model-choice.ts"
import type { Stage } from "./stage.ts"

const Count = lazily(() => z.int().check(z.nonnegative()))

/** The limits of a session. They are recorded when it starts; a resume may change them and records that. */
export const PipelineLimits = lazily(() =>
  z.strictObject({
    /** The number of times that each backward edge may be taken. */
    cyclesMax: Count(),
    turnsMax: Count(),
    /** The number of replies in which the planner may read before it has to propose a plan. */
    exploreTurnsMax: described(z.optional(Count()), "missing in sessions that are older than this limit"),
    /** The number of shorter repetitions of a request that its server finds too long. */
    stepRetriesMax: Count(),
    /** The number of further requests to a model that could not answer. */
    modelRetriesMax: described(z.optional(Count()), "missing in sessions that are older than this limit"),
    stageRetriesMax: z.strictObject({
      planner: Count(),
      executor: Count(),
      verifier: Count(),
      reviewer: Count(),
    }),
    /** Null means no limit. */
    stageTimeoutMs: z.strictObject({
      planner: z.nullable(Count()),
      executor: z.nullable(Count()),
      verifier: z.nullable(Count()),
      reviewer: z.nullable(Count()),
    }),
    stepTimeoutMs: Count(),
    /** The maximum size of one request to a model; null leaves it to the model. */
    contextTokensMax: z.nullable(Count()),
    /** The maximum size of all requests and replies of the session together; null means no limit. */
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
    /** The maximum size of a request and its reply together. */
    windowTokens: Count(),
    outputTokensMax: Count(),
  }),
)
export type StageModel = z.infer<ReturnType<typeof StageModel>>

/** The server of a session, and the model of each stage. */
export const ModelSelection = lazily(() =>
  z.strictObject({
    protocol: z.enum(protocols),
    endpoint: z.string(),
    /** The person who agreed that the context of a model leaves this machine; null if it does not. */
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
    /** The value of `--model`. */
    model: z.nullable(z.string()),
    mode: z.enum(modes),
    /** Null with a script or a recording. */
    selection: z.nullable(ModelSelection()),
    limits: PipelineLimits(),
    /** Stops after the plan. */
    planOnly: z.boolean(),
    /** The session only answers: a plan that changes something is refused. */
    asksOnly: z.optional(z.literal(true)),
    /** Always stops for a person at the plan, whatever `--yes` says. */
    approvePlan: z.boolean(),
    skipVerify: z.boolean(),
    requireReviewApproval: z.boolean(),
    /** The value of `--yes`, for a resume without flags. */
    yes: z.nullable(z.string()),
    contextFiles: z.array(z.string()),
  }),
)
export type PipelineSettings = z.infer<ReturnType<typeof PipelineSettings>>

/** The settings of a session without flags, except its limits. */
export const plainSettings: Omit<PipelineSettings, "limits"> = Object.freeze({
  model: null,
  mode: "local-only",
  selection: null,
  yes: null,
  contextFiles: [],
  planOnly: false,
  approvePlan: false,
  skipVerify: false,
  requireReviewApproval: false,
})

/** The upper limit of cycles, whatever is configured. */
export const cyclesCeiling = 10

/** Returns how often each backward edge may really be taken. */
export function cyclesAllowed({ cyclesMax }: PipelineLimits): number {
  return Math.min(cyclesMax, cyclesCeiling)
}

/**
 * Returns the maximum size of one request of a stage: the configured size, or what the window has left beside the
 * reply.
 */
export function requestTokensMax(settings: PipelineSettings, stage: Stage, cutOff = 0): number | null {
  const { limits, selection } = settings
  if (selection === null) return limits.contextTokensMax
  const fitting = selection[stage].windowTokens - replyTokensMax(selection, stage, cutOff)
  return Math.min(fitting, limits.contextTokensMax ?? fitting)
}

/**
 * Returns the maximum size of a reply of a stage. A model that thinks may need more than its answer does: each reply
 * that was cut off doubles the size, where replies cost nothing.
 */
export function replyTokensMax(selection: ModelSelection, stage: Stage, cutOff = 0): number {
  const { windowTokens, outputTokensMax } = selection[stage]
  const wanted = selection.consentBy === null ? outputTokensMax * 2 ** cutOff : outputTokensMax
  return Math.min(wanted, longestReply(windowTokens))
}

/** Returns half of the window: the request needs space as well. */
export function longestReply(windowTokens: number): number {
  return Math.floor(windowTokens / 2)
}
