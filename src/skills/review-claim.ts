import { newEvent } from "../domain/events/definition.ts"
import { ReviewFinished } from "../domain/events/skill-events.ts"
import { ExecutionError } from "../domain/skill/execution-error.ts"
import type { TaskStep } from "../domain/skill/skill-state.ts"
import type { SkillContent } from "../domain/skill/skill-text.ts"
import { changedTaskText, type TaskChange } from "../domain/skill/task-text.ts"
import type { Task } from "../domain/task.ts"
import {
  directorBody,
  readTaskReview,
  reviewRequirements,
  reviewText,
  type TaskReview,
} from "../domain/task-review.ts"
import type { ClaimResult, WrittenOutput } from "./contract.ts"
import {
  type ClaimHost,
  type Claiming,
  RecordedClaim,
  type RecordedParts,
  taskChangedMeanwhile,
  taskStepFinished,
  writeError,
} from "./recorded-claim.ts"
import { readTaskFile, type TaskFile } from "./task-folder.ts"

export interface ReviewWork {
  readonly index: number
  /** The file of the task whose output is reviewed. */
  readonly file: TaskFile
  readonly reviewer: string
  /** Counted from 1. */
  readonly round: number
  readonly revisionsMax: number
}

/**
 * One review, executed as a task of its own: the reviewer is its skill, the output its input, and what it writes is the
 * review and what becomes of the task.
 */
export class ReviewClaim extends RecordedClaim {
  constructor(
    parts: RecordedParts,
    host: ClaimHost,
    private readonly review: ReviewWork,
    private readonly open: TaskStep | null,
    signal: AbortSignal | undefined,
  ) {
    super(parts, host, claiming(review), open, signal)
  }

  override async skill(): Promise<SkillContent> {
    const { reviewer } = this.review
    if (reviewer !== director) return this.parts.skill(reviewer, this.task.id)
    return {
      name: director,
      description: "",
      license: null,
      compatibility: null,
      metadata: {},
      allowedTools: null,
      directory: "",
      body: directorBody,
      referenceContents: [],
      warnings: [],
      leftOut: [],
    }
  }

  override async complete(content: string, _result: ClaimResult): Promise<WrittenOutput> {
    const { host, review, task } = this
    const { index, round } = review
    const reading = readTaskReview(content)
    if ("problem" in reading)
      throw new ExecutionError(`the reply is not a review: ${reading.problem}`, "API_ERROR", task.id)
    using _ = await this.hold()
    const path = `reviews/${task.id}-${round}.md`
    const placed = `${this.parts.folder.prefix}${path}`
    // A file of this name that the review did not write itself stays.
    const expected = [null, ...(this.open?.wrote ?? []).map(({ sha256 }) => sha256)]
    const written = await host.write(
      { index, taskId: task.id },
      { path: placed, content: reviewText(reading.review), expected },
      {},
    )
    if (written.outcome !== "succeeded") throw writeError(task.id, placed, written)
    await this.decide(reading.review, path)
    return { outputPath: path, warnings: [] }
  }

  private async decide(review: TaskReview, path: string): Promise<void> {
    const { host, task } = this
    const { index, round, revisionsMax } = this.review
    const { verdict, summary, findings } = review
    const { redactText, folder, session } = this.parts
    const events = [
      newEvent(ReviewFinished, {
        taskId: task.id,
        index,
        round,
        verdict,
        path,
        findingCount: findings.length,
        summary: redactText(summary),
      }),
      taskStepFinished(index, task.id, null, 0),
    ]
    const file = readTaskFile(folder, task.id)
    if (!host.isOurs(file, null)) throw taskChangedMeanwhile(task.id, file.path, "while it was reviewed")
    const change = changeFor(review, file.task, { path, round, revisionsMax })
    // Nothing to change, or a process that died had changed it.
    if (change === null || file.task.status !== "completed") {
      session.append(events)
      host.reviewed(task.id)
      return
    }
    const text = changedTaskText(file.text, { ...change, updatedAt: host.now() })
    const settled = await host.write(
      { index, taskId: task.id },
      { path: file.path, content: text, expected: [file.sha256] },
      { after: call => (call.outcome === "succeeded" ? events : []) },
    )
    if (settled.outcome !== "succeeded") throw writeError(task.id, file.path, settled)
    host.reviewed(task.id)
    this.parts.faults.reach("skill.reviewed")
  }

  override async end(error: ExecutionError): Promise<void> {
    if (this.isLeft) return
    this.parts.session.append([taskStepFinished(this.review.index, this.task.id, error, 0)])
  }
}

export const director = "director"

function claiming({ index, file, reviewer }: ReviewWork): Claiming {
  const { task } = file
  const asked: Task = {
    ...task,
    to: reviewer,
    revisionCount: 0,
    inputs: [{ path: task.output.path, description: `the output of ${task.to}` }],
    requirements: reviewRequirements(task.requirements),
    output: { path: "", format: "JSON" },
  }
  return { index, file: { ...file, task: asked }, content: null, outputPath: "", outputSha256: null }
}

/** Null where the task stays as it is, because it was revised as often as it may be. */
function changeFor(
  { verdict }: TaskReview,
  { revisionCount }: Task,
  {
    path,
    round,
    revisionsMax,
  }: { readonly path: string; readonly round: number; readonly revisionsMax: number },
): TaskChange | null {
  if (verdict === "APPROVE") return { status: "approved" }
  if (verdict === "REJECT") return { status: "failed" }
  if (revisionCount >= revisionsMax) return null
  const input = { path, description: `Review ${round}` }
  return { status: "revision", revisionCount: revisionCount + 1, input }
}
