import { sha256Hex } from "../base/canonical.ts"
import type { Clock } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import type { Decision, Effect, Grant } from "../domain/effect.ts"
import { type NewEvent, newEvent } from "../domain/events/definition.ts"
import type { RecordedText } from "../domain/events/recorded-text.ts"
import { StepFinished, StepStarted } from "../domain/events/session-events.ts"
import { TaskAsked, TaskClaimed, TaskReplied, TaskSettled } from "../domain/events/skill-events.ts"
import { ExecutionError, executionErrors, isExecutionErrorCode } from "../domain/skill/execution-error.ts"
import type { OutputPlan } from "../domain/skill/output-path.ts"
import type { TaskStep } from "../domain/skill/skill-state.ts"
import type { SkillContent } from "../domain/skill/skill-text.ts"
import { changedTaskText } from "../domain/skill/task-text.ts"
import type { Task, TaskStatus } from "../domain/task.ts"
import type { Gate, SettledCall } from "../gate/contract.ts"
import { recordText } from "../gate/recorded.ts"
import type { SharingSession } from "../gate/session-log.ts"
import type { ArtifactStore } from "../store/contract.ts"
import type { ClaimResult, ClaudeRequest, ClaudeResponse, TaskClaim, WrittenOutput } from "./contract.ts"
import { readInputFile, readTaskFile, type TaskFile, type TaskFolder } from "./task-folder.ts"

export interface RecordedParts {
  readonly session: SharingSession
  readonly gate: Gate
  readonly folder: TaskFolder
  readonly decide: (effects: readonly Effect[], grant: Grant) => Promise<Decision>
  readonly artifacts: ArtifactStore
  readonly recordedText: (text: RecordedText) => string
  readonly redactText: (text: string) => string
  /** Throws ExecutionError SKILL_NOT_FOUND. */
  readonly skill: (name: string, taskId: string) => SkillContent
  readonly planOf: (skill: string, content: SkillContent | null) => OutputPlan
  /** Returns whether an execution of the task left this content at this path. */
  readonly hasWritten: (taskId: string, path: string, sha256: string) => boolean
  /** Returns another session that executes the task as part of its pipeline. */
  readonly pipelineOf: (taskId: string) => string | null
  /** The user agreed that outputs replace files which their tasks did not write. */
  readonly mayOverwrite: boolean
  /** Returns the events that begin the session, to be committed with the next step; none once they are recorded. */
  readonly begin: () => readonly NewEvent[]
  /** Returns whether anything of the session is recorded. */
  readonly hasBegun: () => boolean
  /** Called again and again while another process holds the workspace. */
  readonly onBusy: () => void
  readonly clock: Clock
  readonly faults: Faults
}

/** A file to write. */
export interface HostedFile {
  readonly path: string
  readonly content: string
  /** The hashes that the file may have before, null for no file; anything else is left alone. */
  readonly expected: readonly (string | null)[]
}

/** The session that a claim is a step of. */
export interface ClaimHost {
  /** Takes the workspace for a few writes. Throws ABORTED when the signal fires and it stays taken. */
  hold(signal: AbortSignal | undefined, graceMs: number): Promise<Disposable>
  /** Writes one file through the gate, as a call of the step. The caller holds the workspace. */
  write(
    step: Pick<TaskStep, "index" | "taskId"> | null,
    file: HostedFile,
    events: {
      readonly before?: readonly NewEvent[]
      readonly after?: (settled: SettledCall) => readonly NewEvent[]
    },
  ): Promise<SettledCall>
  /** Returns whether the file is as the session left it. */
  isOurs(file: TaskFile, claimedSha256: string | null): boolean
  nextReplyIndex(taskId: string, step: TaskStep | null, attempt: number): number
  /** Records the end of a step whose file says it already, or says something else that stays. */
  settle(index: number, taskId: string, ending: TaskEnding): void
  /** The output of a task was reviewed once more. */
  reviewed(taskId: string): void
  now(): string
}

/** A step that is claimed. */
export interface Claiming {
  readonly index: number
  readonly file: TaskFile
  readonly content: SkillContent | null
  readonly outputPath: string
  /** The hash of the file at that path before the task; null where there was none. */
  readonly outputSha256: string | null
}

/** A task that this process executes, as a step of its session. */
export class RecordedClaim implements TaskClaim {
  readonly task: Task
  readonly recordedReply: ClaudeResponse | null
  readonly recordedFailure: ExecutionError | null
  readonly attemptsMade: number
  /** Another process finishes the step: this one was stopped while it could not write. */
  protected isLeft = false

  constructor(
    protected readonly parts: RecordedParts,
    protected readonly host: ClaimHost,
    private readonly work: Claiming,
    private readonly step: TaskStep | null,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.task = { ...work.file.task, status: "in_progress" }
    const last = step?.replied.findLast(({ failure }) => failure !== null)
    this.attemptsMade = last?.attempt ?? 0
    this.recordedFailure = recordedFailure(last)
    this.recordedReply = recordedReply(parts, step)
  }

  private get key() {
    return { index: this.work.index, taskId: this.task.id }
  }

  async skill(): Promise<SkillContent> {
    return this.work.content ?? this.parts.skill(this.task.to, this.task.id)
  }

  async context(): Promise<string | null> {
    const { context } = this.parts.planOf(this.task.to, this.work.content)
    return readInputFile(this.parts.folder, context, message => {
      throw new ExecutionError(message, "CONTEXT_NOT_FOUND", this.task.id)
    })
  }

  async input(path: string): Promise<string> {
    const refuse = (message: string): never => {
      throw new ExecutionError(message, "INPUT_NOT_FOUND", this.task.id)
    }
    return readInputFile(this.parts.folder, path, refuse) ?? refuse(`the input ${path} does not exist`)
  }

  asked(request: ClaudeRequest, attempt: number): ClaudeRequest {
    const { parts, task, work } = this
    const sent = {
      ...request,
      systemPrompt: parts.redactText(request.systemPrompt),
      userMessage: parts.redactText(request.userMessage),
    }
    parts.session.append([
      newEvent(TaskAsked, {
        ...{
          taskId: task.id,
          index: work.index,
          attempt,
          model: request.model,
          maxTokens: request.maxTokens,
        },
        replyIndex: this.host.nextReplyIndex(task.id, this.step, attempt),
        requestDigest: `sha256:${sha256Hex(`${sent.systemPrompt}\0${sent.userMessage}`)}`,
      }),
    ])
    parts.faults.reach("skill.asked")
    return sent
  }

  replied(attempt: number, reply: ClaudeResponse | ExecutionError, durationMs: number): void {
    const { parts, task, work } = this
    const failure = reply instanceof ExecutionError ? reply : null
    const content = reply instanceof ExecutionError ? "" : reply.content
    const text = parts.redactText(content)
    const tokens = reply instanceof ExecutionError ? reply.request : reply
    const externalCalls = tokens?.externalCalls
    parts.session.append([
      newEvent(TaskReplied, {
        ...{ taskId: task.id, index: work.index, attempt, durationMs },
        text: recordText(text, parts.artifacts),
        isRedacted: text !== content,
        stopReason: reply instanceof ExecutionError ? null : reply.stopReason,
        failure:
          failure === null
            ? null
            : {
                code: failure.code,
                message: parts.redactText(failure.message),
                retryAfterMs: failure.request?.retryAfterMs ?? null,
              },
        usage: { input: tokens?.inputTokens ?? 0, output: tokens?.outputTokens ?? 0 },
        ...(externalCalls === undefined ? {} : { externalCalls }),
      }),
    ])
    parts.faults.reach("skill.replied")
  }

  async complete(content: string, result: ClaimResult): Promise<WrittenOutput> {
    const { host, work, task } = this
    const { prefix } = this.parts.folder
    using _ = await this.hold()
    const path = `${prefix}${work.outputPath}`
    const { text, warnings } = withoutMarkers(content)
    const expected = [work.outputSha256, ...(this.step?.wrote ?? []).map(({ sha256 }) => sha256)]
    const written = await host.write(this.key, { path, content: text, expected }, {})
    if (written.error?.code === otherContent)
      throw new ExecutionError(
        `${path} was changed while the model worked, and was left alone; the reply is in the record ` +
          "(`acode session logs --filter task.replied --json`)",
        "WORKSPACE_WRITE_FAILED",
        task.id,
      )
    if (written.outcome !== "succeeded") throw writeError(task.id, path, written)
    const file = readAgain(this.parts.folder, task.id)
    if (file === null || !host.isOurs(file, this.step?.claimed?.sha256 ?? null))
      throw taskChangedMeanwhile(task.id, work.file.path, `while the model worked; the output is in ${path}`)
    const whole = { ...result, warnings: [...result.warnings, ...warnings] }
    // A process that died had come as far as this.
    if (file.task.status === "completed") {
      const ending = { status: file.task.status, error: null, result: whole, outputPath: work.outputPath }
      host.settle(work.index, task.id, ending)
      return { outputPath: work.outputPath, warnings: whole.warnings }
    }
    await this.writeStatus(file, "completed", null, whole, work.outputPath)
    return { outputPath: work.outputPath, warnings: whole.warnings }
  }

  async end(error: ExecutionError, result: ClaimResult): Promise<void> {
    const { host, work, task } = this
    if (this.isLeft) return
    using _ = await this.hold()
    const status = executionErrors[error.code].status === "cancelled" ? "cancelled" : "failed"
    const file = readAgain(this.parts.folder, task.id)
    // Another writer changed the file: their text stays, and only the record says how this ended.
    if (file === null || !host.isOurs(file, this.step?.claimed?.sha256 ?? null))
      return host.settle(work.index, task.id, {
        ...{ status: file?.task.status ?? status, error, result, outputPath: null },
      })
    await this.writeStatus(file, status, error, result, null)
  }

  /** Takes the workspace. Where it stays taken after an abort, the step stays open for another process to finish. */
  protected async hold(): Promise<Disposable> {
    try {
      return await this.host.hold(this.signal, graceMs)
    } catch (error) {
      if (!(error instanceof ExecutionError && error.code === "ABORTED")) throw error
      this.isLeft = true
      throw new ExecutionError(
        "stopped while another session had the workspace; the next `acode agent run --pending` finishes it",
        ...(["ABORTED", this.task.id] as const),
      )
    }
  }

  private async writeStatus(
    file: TaskFile,
    status: TaskStatus,
    error: ExecutionError | null,
    result: ClaimResult,
    outputPath: string | null,
  ): Promise<void> {
    const { host, work, task } = this
    const text = changedTaskText(file.text, { status, updatedAt: host.now() })
    const ending = { status, error, result, outputPath }
    const settled = await host.write(
      this.key,
      { path: file.path, content: text, expected: [file.sha256] },
      {
        after: call => (call.outcome === "succeeded" ? settledEvents(work.index, task.id, ending) : []),
      },
    )
    if (settled.outcome !== "succeeded") throw writeError(task.id, file.path, settled)
    this.parts.faults.reach("skill.settled")
  }
}

/** Longer than other runners take for their writes. */
const graceMs = 1_000

/** Returns null when the file is gone or is not a task any more. */
function readAgain(folder: TaskFolder, id: string): TaskFile | null {
  try {
    return readTaskFile(folder, id)
  } catch (error) {
    if (error instanceof ExecutionError) return null
    throw error
  }
}

function recordedReply({ recordedText }: RecordedParts, step: TaskStep | null): ClaudeResponse | null {
  const reply = step === null ? undefined : wholeReply(step)
  if (reply === undefined) return null
  return {
    content: recordedText(reply.text),
    ...{ inputTokens: reply.usage.input, outputTokens: reply.usage.output },
    stopReason: reply.stopReason === "max_tokens" ? "max_tokens" : "end_turn",
  }
}

function recordedFailure(reply: TaskStep["replied"][number] | undefined): ExecutionError | null {
  const failure = reply?.failure ?? null
  if (reply === undefined || failure === null) return null
  const code = isExecutionErrorCode(failure.code) ? failure.code : "UNKNOWN"
  return new ExecutionError(failure.message, code, reply.taskId, undefined, {
    ...{
      retryAfterMs: failure.retryAfterMs,
      inputTokens: reply.usage.input,
      outputTokens: reply.usage.output,
    },
  })
}

/** Returns a reply that is recorded without gaps. For any other the model is asked again. */
function wholeReply({ replied }: TaskStep) {
  return replied.find(({ failure, isRedacted }) => failure === null && !isRedacted)
}

export function hasWholeReply(step: TaskStep): boolean {
  return wholeReply(step) !== undefined
}

/** Marks of redaction that a model repeats: a file with them in it would be taken for one that has lost a secret. */
function withoutMarkers(content: string): { readonly text: string; readonly warnings: readonly string[] } {
  const text = content.replaceAll("[REDACTED:", "[redacted:")
  if (text === content) return { text, warnings: [] }
  return { text, warnings: ["the output repeats marks of what was redacted from the request"] }
}

export function taskStepKey(index: number, taskId: string): string {
  return `${index}/${taskId}`
}

export function started(index: number, { id, to }: Pick<Task, "id" | "to">, tool = "write_file"): NewEvent {
  return newEvent(StepStarted, {
    ...{ taskId: id, stepId: id, index, title: to, tool, stepKey: taskStepKey(index, id) },
  })
}

export function claimedEvent({ index, file, outputSha256 }: Claiming, sha256: string): NewEvent {
  const { task, path } = file
  const { id: taskId, to: skill, status: fromStatus } = task
  return newEvent(TaskClaimed, { taskId, index, path, skill, fromStatus, sha256, outputSha256 })
}

/** The error code of a write that would have replaced something else than was expected. */
export const otherContent = "ACODE-FS-007"

export function taskStepFinished(
  index: number,
  taskId: string,
  error: ExecutionError | null,
  durationMs: number,
): NewEvent {
  return newEvent(StepFinished, {
    ...{ taskId, stepId: taskId, index, success: error === null, callId: null },
    code: error === null ? null : taskFailed,
    message: error === null ? null : `${error.code}: ${error.message}`,
    ...{ diagnostics: [], durationMs, waitMs: 0 },
  })
}

/** The error code of every task that failed; its message begins with the reason. */
export const taskFailed = "ACODE-SKILL-003"

export interface TaskEnding {
  readonly status: TaskStatus
  readonly error: ExecutionError | null
  readonly result: ClaimResult
  readonly outputPath: string | null
}

export function settledEvents(
  index: number,
  taskId: string,
  { status, error, result, outputPath }: TaskEnding,
) {
  const { warnings, inputTokens, outputTokens, durationMs } = result
  return [
    newEvent(TaskSettled, {
      ...{ taskId, index, status, outputPath, warnings: [...warnings], durationMs },
      error: error === null ? null : { code: error.code, message: error.message },
      tokens: { input: inputTokens, output: outputTokens },
    }),
    taskStepFinished(index, taskId, error, durationMs),
  ]
}

export function notRunnable({ task, path }: TaskFile): ExecutionError {
  const { status, id } = task
  const code = status === "in_progress" ? "TASK_CLAIMED" : "TASK_NOT_EXECUTABLE"
  return new ExecutionError(`the status in ${path} is ${status}`, code, id)
}

export function taskChangedMeanwhile(taskId: string, path: string, when: string): ExecutionError {
  const message = `${path} was changed ${when}; its status was left alone`
  return new ExecutionError(message, "WORKSPACE_WRITE_FAILED", taskId)
}

export function writeError(taskId: string, path: string, { error, outcome }: SettledCall): ExecutionError {
  const message = error?.message ?? `${path} was not written`
  return new ExecutionError(message, outcome === "denied" ? "PATH_REFUSED" : "WORKSPACE_WRITE_FAILED", taskId)
}

export function hashAfter({ changes }: SettledCall, path: string): string | null {
  return changes.find(change => change.path === path)?.after ?? null
}
