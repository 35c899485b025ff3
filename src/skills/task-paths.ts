import { emptyGrant } from "../domain/effect.ts"
import { ExecutionError } from "../domain/skill/execution-error.ts"
import { outputPathOf, pathProblem } from "../domain/skill/output-path.ts"
import type { SkillContent } from "../domain/skill/skill-text.ts"
import type { Task } from "../domain/task.ts"
import { type CallPath, callPath, pathEffects, writeEffects } from "../tools/path-effects.ts"
import type { RecordedParts } from "./recorded-claim.ts"

type PathParts = Pick<RecordedParts, "folder" | "decide" | "planOf" | "hasWritten" | "mayOverwrite">

export interface CheckedPaths {
  readonly outputPath: string
  /** The hash of the file that is there now; null where there is none. */
  readonly outputSha256: string | null
}

/**
 * Checks every path that a task names: its form, what policy says, and whether the output would replace a file that
 * the task did not write. `isClaimed` leaves out the last: it was decided with the claim.
 */
export async function checkedPaths(
  parts: PathParts,
  task: Task,
  content: SkillContent | null,
  isClaimed: boolean,
): Promise<CheckedPaths> {
  const plan = parts.planOf(task.to, content)
  const output = outputPathOf(task, plan)
  if ("problem" in output)
    throw new ExecutionError(output.problem, output.isRefused ? "PATH_REFUSED" : "TASK_INVALID", task.id)
  for (const { path } of task.inputs) {
    const problem = pathProblem(path)
    if (problem !== null)
      throw new ExecutionError(`the input ${JSON.stringify(path)} ${problem}`, "PATH_REFUSED", task.id)
    await checkAllowed(parts, task.id, path, "read")
  }
  await checkAllowed(parts, task.id, plan.context, "read")
  const place = await checkAllowed(parts, task.id, output.path, "write")
  const outputSha256 = refusing(task.id, output.path, () => contentOf(parts, place))
  if (!isClaimed && outputSha256 !== null) checkReplaced(parts, task.id, output.path, place, outputSha256)
  return { outputPath: output.path, outputSha256 }
}

async function checkAllowed(
  { folder, decide }: PathParts,
  taskId: string,
  path: string,
  kind: "read" | "write",
): Promise<CallPath> {
  const { workspace, prefix } = folder
  const place = refusing(taskId, path, () => callPath(workspace, `${prefix}${path}`))
  const effects = kind === "write" ? writeEffects(workspace, place) : pathEffects(workspace, place, "read")
  const { decision, reason, rule } = await decide(effects, { ...emptyGrant, exact: effects })
  if (decision === "allow") return place
  throw new ExecutionError(`${prefix}${path} may not be used: ${reason} (${rule})`, "PATH_REFUSED", taskId)
}

/** Larger files are not replaced, because they could not be restored. */
const replacedBytesMax = 256 * 1024 * 1024

/** Returns the hash of the file at a path; null where nothing is. Throws for what is not a file. */
function contentOf({ folder: { workspace } }: PathParts, { typed, kind }: CallPath): string | null {
  if (kind === "missing") return null
  if (kind !== "file") throw new Error(`it is a ${kind === "other" ? "special file" : kind}`)
  return workspace.readBytes(typed, replacedBytesMax).sha256
}

/**
 * Refuses an output in the place of a file of the user's: a task may come with a repository that was cloned. A task
 * replaces what lies in the folders of the lane, where no symlink leads elsewhere, and what it wrote itself before.
 */
function checkReplaced(
  { hasWritten, mayOverwrite, folder: { prefix } }: PathParts,
  taskId: string,
  path: string,
  { typed, relative }: CallPath,
  sha256: string,
): void {
  const isOfLane = /^(?:outputs|context)\//.test(path) && relative === typed
  if (isOfLane || mayOverwrite || hasWritten(taskId, relative, sha256)) return
  throw new ExecutionError(
    `${prefix}${path} exists, and this task did not write it; move it away, give the task another output_path, ` +
      `or replace it with \`acode agent run ${taskId} --overwrite\``,
    "PATH_REFUSED",
    taskId,
  )
}

function refusing<Value>(taskId: string, path: string, look: () => Value): Value {
  try {
    return look()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new ExecutionError(`${path} may not be used: ${message}`, "PATH_REFUSED", taskId)
  }
}
