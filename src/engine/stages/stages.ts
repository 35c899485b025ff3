import type { Stage } from "../../domain/stage.ts"
import type { StageDefinition, StageParts } from "./contract.ts"
import { executorStage } from "./executor.ts"
import { plannerStage } from "./planner.ts"
import { reviewerStage } from "./reviewer.ts"
import { verifierStage } from "./verifier.ts"

/** Returns the four stages. Pure: everything they know of the workspace is in their view. */
export function createStages(parts: StageParts): Readonly<Record<Stage, StageDefinition>> {
  return {
    planner: plannerStage(parts),
    executor: executorStage(parts),
    verifier: verifierStage,
    reviewer: reviewerStage,
  }
}
