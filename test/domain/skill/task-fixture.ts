import type { Task } from "../../../src/domain/task.ts"

/** A task as somebody would write it; `changes` make it another one. */
export function exampleTask(changes: Partial<Task> = {}): Task {
  return {
    id: "copywriting-20260115-a1b2c3",
    status: "pending",
    priority: "P1",
    from: "director",
    to: "copywriting",
    createdAt: "2026-01-15T10:00:00.000Z",
    updatedAt: "2026-01-15T10:00:00.000Z",
    deadline: null,
    goalId: null,
    pipelineId: null,
    revisionCount: 0,
    goal: "Launch the new editor",
    inputs: [],
    requirements: "Write the landing page.",
    output: {
      path: "outputs/creative/copywriting/copywriting-20260115-a1b2c3.md",
      format: "markdown",
    },
    next: { type: "complete" },
    tags: [],
    metadata: {},
    ...changes,
  }
}
