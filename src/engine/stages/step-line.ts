import { onceFor } from "../../base/once-for.ts"
import { shownPath } from "../../base/path-names.ts"
import { counted, oneLine } from "../../base/text.ts"
import type { StepState } from "../../domain/pipeline/state.ts"

const pathsMax = 10

/**
 * One step and what came of it, from what was recorded and not from what a model said about it. A step that is finished
 * stays the same object, and is told in every request after it.
 */
export const stepLine = onceFor(lineOf)

function lineOf({ task, step, status, changedPaths, commandCount, lastCommand }: StepState): string {
  const paths = changedPaths.slice(0, pathsMax).map(path => oneLine(shownPath(path), 200))
  const more = changedPaths.length - paths.length
  const facts = [
    status,
    ...(paths.length === 0 ? [] : [`changed ${paths.join(", ")}${more > 0 ? ` and ${more} more` : ""}`]),
    ...(commandCount === 0 ? [] : [`${counted(commandCount, "command")} run`]),
    ...(lastCommand?.failure == null ? [] : ["its last command failed"]),
  ]
  return `${task.id}/${step.id} ${oneLine(step.title || step.description, 120)}: ${facts.join("; ")}`
}
