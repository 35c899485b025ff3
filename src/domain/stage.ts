export const stages = ["planner", "executor", "verifier", "reviewer"] as const
export type Stage = (typeof stages)[number]

export type Target = Stage | "complete"

/**
 * The only allowed moves between stages. Any other move is refused, and the refusal is recorded. Only the answer to a
 * question ends a session from the planner or the executor.
 */
export const transitions: Readonly<Record<Stage, readonly Target[]>> = {
  planner: ["executor", "planner", "complete"],
  executor: ["verifier", "executor", "complete"],
  verifier: ["reviewer", "executor"],
  reviewer: ["planner", "executor", "complete"],
}

export function isAllowed(from: Stage, to: Target): boolean {
  return transitions[from].includes(to)
}

/** The moves to an earlier stage, each counted separately. Repeating a stage is a retry and not one of these. */
export const backwardEdges = ["verifier→executor", "reviewer→executor", "reviewer→planner"] as const
export type BackwardEdge = (typeof backwardEdges)[number]

export function backwardEdge(from: Stage, to: Target): BackwardEdge | null {
  return backwardEdges.find(edge => edge === `${from}→${to}`) ?? null
}
