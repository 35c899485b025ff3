import * as z from "zod/mini"
import { lazily } from "../lazily.ts"

const Count = lazily(() => z.int().check(z.nonnegative()))

/** What bounds a session. Recorded when it starts; a resume may change it and records that. */
export const PipelineLimits = lazily(() =>
  z.strictObject({
    /** How often each backward edge may be taken. */
    cyclesMax: Count(),
    turnsMax: Count(),
    /** Extra attempts after a failure that is declared transient. */
    stepRetriesMax: Count(),
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
  }),
)
export type PipelineLimits = z.infer<ReturnType<typeof PipelineLimits>>

export const PipelineSettings = lazily(() =>
  z.strictObject({
    model: z.nullable(z.string()),
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
  stageRetriesMax: { planner: 2, executor: 2, verifier: 2, reviewer: 1 },
  stageTimeoutMs: { planner: 120_000, executor: null, verifier: 180_000, reviewer: 120_000 },
  stepTimeoutMs: 120_000,
  contextTokensMax: null,
})

/** Nothing runs round in circles more often than this, whoever says so. */
export const cyclesCeiling = 10

/** How often each backward edge may really be taken. */
export function cyclesAllowed({ cyclesMax }: PipelineLimits): number {
  return Math.min(cyclesMax, cyclesCeiling)
}
