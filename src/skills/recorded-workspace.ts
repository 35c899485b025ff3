import { toIso } from "../base/clock.ts"
import { emptyGrant } from "../domain/effect.ts"
import { newEvent } from "../domain/events/definition.ts"
import { TaskReopened } from "../domain/events/skill-events.ts"
import { ExecutionError } from "../domain/skill/execution-error.ts"
import { reviewTool, type SkillState, type TaskStep } from "../domain/skill/skill-state.ts"
import type { SkillContent } from "../domain/skill/skill-text.ts"
import { changedTaskText, taskText } from "../domain/skill/task-text.ts"
import { isRunnable, resettableStatuses, type Task } from "../domain/task.ts"
import type { CallError } from "../domain/tool-call.ts"
import type { SettledCall } from "../gate/contract.ts"
import type { SharingSession } from "../gate/session-log.ts"
import type { SkillWorkspace, TaskClaim } from "./contract.ts"
import {
  type ClaimHost,
  type Claiming,
  claimedEvent,
  type HostedFile,
  hashAfter,
  hasWholeReply,
  notRunnable,
  otherContent,
  RecordedClaim,
  type RecordedParts,
  settledEvents,
  started,
  type TaskEnding,
  taskChangedMeanwhile,
  taskStepFinished,
  taskStepKey,
  writeError,
} from "./recorded-claim.ts"
import { ReviewClaim, type ReviewWork } from "./review-claim.ts"
import { cancellableSleep } from "./sleep.ts"
import { readTaskFile, type TaskFile } from "./task-folder.ts"
import { checkedPaths } from "./task-paths.ts"

/**
 * The tasks of a workspace, each executed as a step of one session. The session holds the workspace only while it
 * writes: the claim, and the output with the last status. Between them other sessions work.
 */
export class RecordedWorkspace implements SkillWorkspace, ClaimHost {
  private readonly open: Map<string, TaskStep>
  private readonly openReviews: Map<string, TaskStep>
  private readonly rounds: Map<string, number>
  private readonly replyIndexes = new Map<string, number>()
  private readonly written: Map<string, string | null>
  /** Steps whose end was committed with a call. */
  private readonly ended = new Set<number>()
  private nextIndex: number
  private nextReply: number

  /** `state` is what an earlier process recorded of this session; null for a new one. */
  constructor(
    private readonly parts: RecordedParts,
    state: SkillState | null,
  ) {
    const steps = state?.steps ?? []
    const open = steps.filter(step => step.end === null)
    const byTask = (isReview: boolean) =>
      new Map(open.filter(step => step.isReview === isReview).map(step => [step.taskId, step]))
    this.open = byTask(false)
    this.openReviews = byTask(true)
    this.rounds = new Map(state?.reviewRounds ?? [])
    this.written = new Map(state?.written ?? [])
    this.nextIndex = steps.length
    this.nextReply = state?.replyCount ?? 0
  }

  /** True once anything is recorded: a session without a step is not. */
  get hasBegun(): boolean {
    return this.parts.hasBegun()
  }

  get stepCount(): number {
    return this.nextIndex
  }

  /** The place of the last request for a task in a script or a recording. */
  replyIndexOf(taskId: string): number {
    return this.replyIndexes.get(taskId) ?? 0
  }

  async claim({ id }: Task, signal: AbortSignal | undefined): Promise<TaskClaim> {
    using _ = await this.hold(signal)
    const open = this.open.get(id)
    if (open !== undefined) return await this.resumed(open, signal)
    const file = readTaskFile(this.parts.folder, id)
    if (!isRunnable(file.task.status)) throw notRunnable(file)
    const pipeline = file.task.pipelineId === null ? null : this.parts.pipelineOf(id)
    if (pipeline !== null)
      throw new ExecutionError(`session ${pipeline} executes it as part of a pipeline`, "TASK_CLAIMED", id)
    const content = this.skillOrNull(file.task)
    const paths = await checkedPaths(this.parts, file.task, content, false)
    return await this.claimed({ index: this.nextIndex++, file, content, ...paths }, true, signal)
  }

  /** Returns whether a process that died left the task half executed. */
  isOpen(taskId: string): boolean {
    return this.open.has(taskId)
  }

  /** Returns whether a process that died left its output half reviewed. */
  hasOpenReview(taskId: string): boolean {
    return this.openReviews.has(taskId)
  }

  /** Returns the number of reviews of the task in this session. */
  reviewRounds(taskId: string): number {
    return this.rounds.get(taskId) ?? 0
  }

  /** Writes the file of a new task. Returns false where there is one already, which stays as it is. */
  async createTask(task: Task, signal?: AbortSignal): Promise<boolean> {
    using _ = await this.hold(signal)
    const { prefix, workspace } = this.parts.folder
    const path = `${prefix}tasks/${task.id}.md`
    if (workspace.locate(path).kind !== "missing") return false
    const before = this.parts.begin()
    const file = { path, content: taskText(task), expected: [null] }
    const settled = await this.write(null, file, { before })
    if (settled.outcome !== "succeeded") throw writeError(task.id, path, settled)
    this.parts.faults.reach("skill.created")
    return true
  }

  /** Begins a review of the output of a completed task, or resumes one. */
  async review(
    taskId: string,
    { reviewer, revisionsMax }: Pick<ReviewWork, "reviewer" | "revisionsMax">,
    signal: AbortSignal | undefined,
  ): Promise<TaskClaim> {
    const file = readTaskFile(this.parts.folder, taskId)
    const open = this.openReviews.get(taskId) ?? null
    this.openReviews.delete(taskId)
    const index = open?.index ?? this.nextIndex++
    const round = this.reviewRounds(taskId) + 1
    if (open === null) this.parts.session.append([started(index, { id: taskId, to: reviewer }, reviewTool)])
    const work = { index, file, reviewer, round, revisionsMax }
    return new ReviewClaim(this.parts, this, work, open, signal)
  }

  reviewed(taskId: string): void {
    this.rounds.set(taskId, this.reviewRounds(taskId) + 1)
  }

  /** Sets a task back to pending, as a step. Throws an ExecutionError where its status does not allow that. */
  async reset(id: string, { by, reason }: { readonly by: string; readonly reason: string }): Promise<void> {
    using _ = await this.hold()
    const { task, text, path, sha256 } = readTaskFile(this.parts.folder, id)
    if (!resettableStatuses.includes(task.status))
      throw new ExecutionError(`its status is ${task.status}`, "TASK_NOT_EXECUTABLE", id)
    const index = this.nextIndex++
    const begun = this.parts.begin()
    const content = changedTaskText(text, { status: "pending", updatedAt: this.now() })
    const settled = await this.write(
      { index, taskId: id },
      { path, content, expected: [sha256] },
      {
        before: [...begun, started(index, task)],
        after: call =>
          call.outcome === "succeeded"
            ? [
                newEvent(TaskReopened, { taskId: id, path, fromStatus: task.status, by, reason }),
                taskStepFinished(index, id, null, 0),
              ]
            : [taskStepFinished(index, id, writeError(id, path, call), 0)],
      },
    )
    if (settled.outcome !== "succeeded") throw writeError(id, path, settled)
  }

  hold(signal?: AbortSignal, graceMs?: number): Promise<Disposable> {
    return heldWorkspace(this.parts.session, this.parts.onBusy, signal, graceMs)
  }

  private async claimed(work: Claiming, isNew: boolean, signal: AbortSignal | undefined): Promise<TaskClaim> {
    const { index, file } = work
    const { task, path } = file
    const text = changedTaskText(file.text, { status: "in_progress", updatedAt: this.now() })
    const begun = this.parts.begin()
    const settled = await this.write(
      { index, taskId: task.id },
      { path, content: text, expected: [file.sha256] },
      {
        before: isNew ? [...begun, started(index, task)] : [],
        after: call =>
          call.outcome === "succeeded"
            ? [claimedEvent(work, hashAfter(call, file.relative) ?? file.sha256)]
            : [taskStepFinished(index, task.id, writeError(task.id, path, call), 0)],
      },
    )
    if (settled.outcome !== "succeeded") {
      this.ended.add(index)
      throw writeError(task.id, path, settled)
    }
    this.parts.faults.reach("skill.claimed")
    return new RecordedClaim(this.parts, this, work, null, signal)
  }

  /** Resumes a step of a process that died. Where that is not possible, the step ends here. */
  private async resumed(step: TaskStep, signal: AbortSignal | undefined): Promise<TaskClaim> {
    this.open.delete(step.taskId)
    try {
      return await this.resumedClaim(step, signal)
    } catch (error) {
      if (error instanceof ExecutionError && !this.ended.has(step.index)) this.end(step, error)
      throw error
    }
  }

  private async resumedClaim(step: TaskStep, signal: AbortSignal | undefined): Promise<TaskClaim> {
    const { index, taskId, claimed } = step
    const file = readTaskFile(this.parts.folder, taskId)
    const { status } = file.task
    const isOurs = this.isOurs(file, claimed?.sha256 ?? null)
    if (claimed === null && !isOurs && !isRunnable(status)) throw notRunnable(file)
    if (isOurs && (status === "failed" || status === "cancelled"))
      throw new ExecutionError(`it is ${status} already`, "TASK_NOT_EXECUTABLE", taskId)
    const content = this.skillOrNull(file.task)
    const paths = await checkedPaths(this.parts, file.task, content, claimed !== null)
    // What lies there now may be an output of this step; what lay there before it was recorded with the claim.
    const outputSha256 = claimed?.outputSha256 === undefined ? paths.outputSha256 : claimed.outputSha256
    const work = { index, file, content, ...paths, outputSha256 }
    if (claimed === null && !isOurs) return this.claimed(work, false, signal)
    if (claimed === null) this.parts.session.append([claimedEvent(work, file.sha256)])
    if (!isOurs && !hasWholeReply(step))
      throw taskChangedMeanwhile(taskId, file.path, "after the process that executed it had died")
    return new RecordedClaim(this.parts, this, work, step, signal)
  }

  private end({ index, taskId }: TaskStep, error: ExecutionError): void {
    this.parts.session.append([taskStepFinished(index, taskId, error, 0)])
  }

  isOurs({ relative, sha256 }: TaskFile, claimedSha256: string | null): boolean {
    return (this.written.get(relative) ?? claimedSha256) === sha256
  }

  settle(index: number, taskId: string, ending: TaskEnding): void {
    this.parts.session.append(settledEvents(index, taskId, ending))
    this.parts.faults.reach("skill.settled")
  }

  async write(
    step: Parameters<ClaimHost["write"]>[0],
    { path, content, expected }: HostedFile,
    { before = [], after = () => [] }: Parameters<ClaimHost["write"]>[2],
  ): Promise<SettledCall> {
    const settled = await this.parts.gate.call({
      tool: "write_file",
      arguments: { path, content },
      obstacle: null,
      origin: {
        planId: null,
        planHash: null,
        modelCallId: null,
        taskId: step?.taskId ?? null,
        stepId: step?.taskId ?? null,
        stepKey: step === null ? null : taskStepKey(step.index, step.taskId),
      },
      grant: emptyGrant,
      isGrantedAsWritten: true,
      offered: ["write_file"],
      isForModel: false,
      requiresConfirmation: false,
      askedAs: null,
      signal: null,
      onOutput: null,
      refuses: ([target]) =>
        target === undefined || expected.includes(target.before) ? null : changed(path),
      before,
      after,
    })
    for (const change of settled.changes) this.written.set(change.path, change.after)
    return settled
  }

  nextReplyIndex(taskId: string, step: TaskStep | null, attempt: number): number {
    const before = step?.asked.find(asked => asked.attempt === attempt)
    const index = before?.replyIndex ?? this.nextReply++
    this.replyIndexes.set(taskId, index)
    return index
  }

  now(): string {
    return toIso(this.parts.clock.now())
  }

  private skillOrNull({ to, id }: Task): SkillContent | null {
    try {
      return this.parts.skill(to, id)
    } catch (error) {
      // A missing skill is reported once the task is claimed: then the task fails.
      if (error instanceof ExecutionError) return null
      throw error
    }
  }
}

function changed(path: string): CallError {
  const message = `${path} was changed by another program meanwhile, and was left alone`
  return { code: otherContent, message, where: path, hint: null }
}

/**
 * Takes the workspace as soon as no other process has it. Throws ExecutionError ABORTED once the signal has fired and
 * the time of grace is over, which is enough for others that only write their outputs.
 */
export async function heldWorkspace(
  session: Pick<SharingSession, "tryHold">,
  onBusy: () => void,
  signal?: AbortSignal,
  graceMs = 0,
): Promise<Disposable> {
  let waitedMs = 0
  let graceLeftMs = graceMs
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, busyWaitMsMax)) {
    const held = session.tryHold()
    if (held !== null) return held
    // Others hold it for moments, unless they do something else than executing tasks.
    waitedMs += waitMs
    if (waitedMs > busyToldMs) onBusy()
    if (signal?.aborted === true) graceLeftMs -= waitMs
    if (graceLeftMs < 0)
      throw new ExecutionError("stopped while another session had the workspace", "ABORTED", "")
    // Processes that wait for the same moment must not all come back at the next one.
    const part = 0.5 + (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 256
    await cancellableSleep(waitMs * part)
  }
}

const busyWaitMsMax = 50
const busyToldMs = 1_000
