import type { PipelineLimits } from "../../../src/domain/pipeline-settings.ts"

/** The limits that follow from the default configuration. */
export const defaultLimits: PipelineLimits = Object.freeze({
  cyclesMax: 3,
  turnsMax: 10,
  exploreTurnsMax: 12,
  stepRetriesMax: 3,
  modelRetriesMax: 2,
  stageRetriesMax: { planner: 2, executor: 2, verifier: 2, reviewer: 1 },
  stageTimeoutMs: { planner: 120_000, executor: null, verifier: 180_000, reviewer: 120_000 },
  stepTimeoutMs: 120_000,
  contextTokensMax: null,
  tokensMax: null,
})
