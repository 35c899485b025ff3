import { toIso } from "../../base/clock.ts"
import { counted, oneLine } from "../../base/text.ts"
import type { PipelinePlan } from "../../domain/events/skill-events.ts"
import type { ExitCode } from "../../domain/exit-codes.ts"
import type { Mode } from "../../domain/model-choice.ts"
import {
  ExecutionError,
  type ExecutionErrorCode,
  executionExitCode,
} from "../../domain/skill/execution-error.ts"
import { isSamePipeline, type PipelineFile, pipelinePlan } from "../../domain/skill/pipeline-file.ts"
import { type SkillState, skillState, type TaskStep } from "../../domain/skill/skill-state.ts"
import { isRunnable, type Task } from "../../domain/task.ts"
import { usualMode } from "../../models/mode.ts"
import type { AgentConfig, ExecutionResult, ModelTier, SkillWorkspace } from "../../skills/contract.ts"
import { AgentExecutor, DEFAULT_MODEL_MAP } from "../../skills/executor.ts"
import { modelClient } from "../../skills/model-client.ts"
import { type PipelineEnd, runPipeline } from "../../skills/pipeline.ts"
import { hasWholeReply, notRunnable, taskFailed } from "../../skills/recorded-claim.ts"
import { director } from "../../skills/review-claim.ts"
import { hasTaskFile, readTaskFile, type TaskFolder } from "../../skills/task-folder.ts"
import type { Store, StoredEvent } from "../../store/contract.ts"
import { livenessOf } from "../../store/process-identity.ts"
import type { ModelChoice } from "../wiring/provider.ts"
import { sweepOrphans, tidyUp } from "../wiring/upkeep.ts"
import type { Wiring } from "../wiring/wire.ts"
import { executorConfig, type SkillModels, skillModels } from "./models.ts"
import {
  finishSteps,
  listedRows,
  newSkillSession,
  reopenSkillSession,
  type SkillSession,
  taskFolder,
} from "./session.ts"

export interface TaskRunRequest {
  /** Ids, or all that may be executed; or the tasks of a pipeline. */
  readonly tasks: readonly string[] | "pending" | PipelineFile
  readonly limit: number | null
  readonly parallel: number | null
  readonly choice: ModelChoice
  readonly model: string | null
  readonly mode: Mode | null
  readonly agentConfig: Partial<AgentConfig>
  readonly maxTokens: number | null
  /** Lets outputs replace files which their tasks did not write. */
  readonly mayOverwrite: boolean
}

/** Receives what happens while tasks are executed. */
export interface TaskSurface {
  readonly notice: (text: string) => void
  readonly onEvent: (event: StoredEvent) => void
  readonly onResult: (result: ExecutionResult) => void
  readonly onBusy: () => void
  /** Stops requests and cancels their tasks. */
  readonly signal: AbortSignal
  /** Begins no further task, and lets those finish that have begun. A pipeline is one whole. */
  readonly leaving: AbortSignal
}

export interface TaskRunEnd {
  /** Null where no task was begun. */
  readonly sessionId: string | null
  readonly results: readonly ExecutionResult[]
  readonly exitCode: ExitCode
}

/** Executes tasks: first what a dead process left, then those that were asked for. */
export function executeTasks(
  wiring: Wiring,
  request: TaskRunRequest,
  surface: TaskSurface,
): Promise<TaskRunEnd> {
  return new TaskRun(wiring, request, surface).run()
}

class TaskRun {
  private models: Promise<SkillModels> | null = null
  private readonly results: ExecutionResult[] = []
  /** Pipelines of dead processes. */
  private readonly resumed: ResumedPipeline[] = []

  constructor(
    private readonly wiring: Wiring,
    private readonly request: TaskRunRequest,
    private readonly surface: TaskSurface,
  ) {}

  async run(): Promise<TaskRunEnd> {
    const { wiring, surface } = this
    wiring.stopping = surface.signal
    const { values } = await wiring.config()
    wiring.mode = this.request.mode ?? usualMode(values.mode)
    const store = await wiring.store()
    try {
      await this.recover(store)
      if (isPipeline(this.request.tasks)) return await this.executePipeline(this.request.tasks)
      const tasks = await this.chosen(this.request.tasks)
      const sessionId = tasks.length === 0 ? null : await this.execute(tasks)
      const exits = [
        ...this.resumed.map(({ exitCode }) => exitCode),
        executionExitCode(this.results.map(codeIn)),
      ]
      return { sessionId, results: this.results, exitCode: exits.find(code => code !== 0) ?? 0 }
    } finally {
      ;(await this.models?.catch(() => null))?.[Symbol.dispose]()
    }
  }

  private lookForModels(isResumed: boolean): Promise<SkillModels> {
    const { wiring, request, surface } = this
    this.models ??= (async () => {
      const { values } = await wiring.config()
      return skillModels(wiring, {
        ...{ choice: request.choice, model: request.model, isResumed, notice: surface.notice },
        ...{ mode: request.mode ?? usualMode(values.mode), isModeTyped: request.mode !== null },
        signal: surface.signal,
      })
    })()
    return this.models
  }

  /** The tasks that may be executed, the most urgent first. Of those that were named, the others fail at once. */
  private async chosen(wanted: readonly string[] | "pending"): Promise<readonly Task[]> {
    const { request } = this
    const folder = await taskFolder(this.wiring)
    const done = new Set(this.results.map(({ taskId }) => taskId))
    const isNamed = wanted !== "pending"
    const tasks: Task[] = []
    for (const id of isNamed ? new Set(wanted) : await this.runnableIds()) {
      if (done.has(id)) continue
      try {
        const file = readTaskFile(folder, id)
        if (isRunnable(file.task.status)) tasks.push(file.task)
        else if (isNamed) throw notRunnable(file)
      } catch (error) {
        if (!(error instanceof ExecutionError)) throw error
        if (isNamed) this.add(refusedResult(id, error))
      }
    }
    const ordered = isNamed ? tasks : tasks.toSorted(byUrgency)
    return request.limit === null ? ordered : ordered.slice(0, request.limit)
  }

  private async runnableIds(): Promise<readonly string[]> {
    const rows = await listedRows(this.wiring)
    for (const { problem } of rows) if (problem !== null) this.surface.notice(`skipped: ${problem}`)
    return rows.flatMap(({ id, summary }) => (summary !== null && isRunnable(summary.status) ? [id] : []))
  }

  private get isEnding(): boolean {
    return this.surface.signal.aborted || this.surface.leaving.aborted
  }

  private add(result: ExecutionResult): void {
    this.results.push(result)
    this.surface.onResult(result)
  }

  private async execute(tasks: readonly Task[]): Promise<string | null> {
    const { wiring, surface } = this
    const models = await this.lookForModels(false)
    using session = await newSkillSession(wiring, {
      goal: tasks.length === 1 ? `execute ${tasks[0]?.id ?? ""}` : `execute ${tasks.length} tasks`,
      ...{ settings: models.settings, stepCount: tasks.length, takeCalls: models.takeCalls },
      mayOverwrite: this.request.mayOverwrite,
      ...{ onEvent: surface.onEvent, notice: surface.notice, onBusy: surface.onBusy },
    })
    await this.executeAll(session, tasks)
    await finishSteps(wiring, session, surface.signal)
    await this.tidy(session)
    return session.workspace.hasBegun ? session.id : null
  }

  /** Old copies go, as after every session; only who holds the workspace may remove them. */
  private async tidy({ workspace, log }: SkillSession): Promise<void> {
    const { signal, notice } = this.surface
    if (!workspace.hasBegun || signal.aborted) return
    const held = log.tryHold()
    if (held === null) return
    using _ = held
    await sweepOrphans(this.wiring)
    await tidyUp(this.wiring, notice)
  }

  private async executeAll(session: SkillSession, tasks: readonly Task[]): Promise<void> {
    const { values } = await this.wiring.config()
    const width = this.request.parallel ?? values.skills.max_parallel
    const waiting = [...tasks]
    const isPending = this.request.tasks === "pending"
    const folder = await taskFolder(this.wiring)
    const lane = async () => {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        // Another runner may have been quicker; looking costs less than asking for the workspace.
        if (isPending && !isStillRunnable(folder, task)) continue
        if (this.isEnding) return
        const result = await this.executeOne(session, task)
        if (!(isPending && isTaken(result))) this.add(result)
      }
    }
    await Promise.all(Array.from({ length: Math.min(width, tasks.length) }, lane))
  }

  private async executeOne(
    session: SkillSession,
    task: Task,
    {
      workspace = session.workspace,
      signal = this.surface.signal,
      tier = null,
      tokensMax = null,
    }: Executing = {},
  ): Promise<ExecutionResult> {
    const { values } = await this.wiring.config()
    const { agentConfig, maxTokens } = this.request
    const client = modelClient({
      ask: async (asked, stopped) => {
        const models = await this.lookForModels(true)
        if (tokensMax !== null && (await this.spentTokens(session)) >= tokensMax)
          throw new ExecutionError(`${tokensMax} tokens are spent`, "BUDGET_EXHAUSTED", task.id)
        return models.ask(asked, stopped)
      },
      replyIndex: () => session.workspace.replyIndexOf(task.id),
    })
    // A reply that is recorded needs no model.
    const models = await this.models
    const config = executorConfig(values, models?.modelMap ?? DEFAULT_MODEL_MAP, maxTokens)
    const own = tier === null ? {} : { modelTier: tier }
    return new AgentExecutor(client, workspace, config).execute(task, {
      ...{ signal, agentConfig: { ...own, ...agentConfig } },
    })
  }

  private async spentTokens({ id }: SkillSession): Promise<number> {
    const { log } = await this.wiring.store()
    return skillState(log.each(id))?.tokens ?? 0
  }

  private async executePipeline(file: PipelineFile): Promise<TaskRunEnd> {
    const { wiring, surface } = this
    const folder = await taskFolder(wiring)
    const nowIso = toIso(wiring.clock.now())
    const isTaken = (id: string) => hasTaskFile(folder, id)
    const plan = pipelinePlan(file, this.request.parallel, { nowIso, sixDigits, isTaken })
    const same = this.resumed.find(resumed => isSamePipeline(resumed.plan, plan))
    if (same !== undefined) {
      surface.notice(
        `that was the pipeline ${oneLine(plan.pipelineId, 130)}: it was resumed, and is not begun again`,
      )
      return { sessionId: same.sessionId, results: this.results, exitCode: same.exitCode }
    }
    const models = await this.lookForModels(false)
    using session = await newSkillSession(wiring, {
      ...{ goal: file.goal, plan, settings: models.settings, takeCalls: models.takeCalls },
      mayOverwrite: false,
      stepCount: plan.steps.reduce((sum, { tasks }) => sum + tasks.length, 0),
      ...{ onEvent: surface.onEvent, notice: surface.notice, onBusy: surface.onBusy },
    })
    const end = await this.carryPipeline(session, plan)
    await this.tidy(session)
    return { sessionId: session.id, results: this.results, exitCode: end.exitCode }
  }

  private async carryPipeline(session: SkillSession, plan: PipelinePlan): Promise<PipelineEnd> {
    const { workspace, planOf, skill } = session
    const { revisionsMax, tokensMax } = plan.limits
    const end = await runPipeline({
      ...{ plan, workspace, planOf, skill, signal: this.surface.signal },
      folder: await taskFolder(this.wiring),
      execute: (task, signal) => this.executeOne(session, task, { signal, tokensMax }),
      review: (task, reviewer, signal) =>
        this.executeOne(
          session,
          { ...task, status: "pending" },
          {
            ...{ signal, tokensMax, tier: reviewer === director ? "opus" : null },
            workspace: {
              claim: ({ id }, stopped) => workspace.review(id, { reviewer, revisionsMax }, stopped),
            },
          },
        ),
      onResult: result => this.add(result),
    })
    session.finish({ ...end, code: end.exitCode === 0 ? null : taskFailed })
    return end
  }

  /** Finishes the sessions of processes that died: what was answered is written, and what was not is asked. */
  private async recover(store: Store): Promise<void> {
    const { wiring, surface } = this
    for (const { id } of store.sessions.interrupted(isSeenAlive, "skill")) {
      if (this.isEnding) return
      const { onEvent, notice, onBusy } = surface
      const { mayOverwrite } = this.request
      const reopened = await reopenSkillSession(wiring, id, { onEvent, notice, onBusy, mayOverwrite })
      if (reopened === null) continue
      using session = reopened.session
      await this.finishInterrupted(session, reopened.state)
    }
  }

  private async finishInterrupted(session: SkillSession, state: SkillState): Promise<void> {
    const { surface } = this
    const open = state.steps.filter(({ end }) => end === null)
    if (state.pipeline !== null) {
      surface.notice(`session ${session.id} was interrupted: resuming its pipeline`)
      await this.lookForModels(true)
      const { exitCode } = await this.carryPipeline(session, state.pipeline)
      this.resumed.push({ plan: state.pipeline, sessionId: session.id, exitCode })
      return
    }
    surface.notice(
      `session ${session.id} was interrupted: finishing ${counted(open.length, "task")} that it had begun`,
    )
    for (const step of open) {
      if (surface.signal.aborted) return
      // Before the model is asked: a server that cannot be found must leave the task as it is.
      if (!hasWholeReply(step)) await this.lookForModels(true)
      this.add(await this.executeOne(session, taskOf(step)))
    }
    await finishSteps(this.wiring, session, surface.signal)
  }
}

/** A process that cannot be inspected from here may be dead: then only its lease says whether it works on. */
function isSeenAlive(owner: Parameters<typeof livenessOf>[0]): boolean {
  return livenessOf(owner) === "alive"
}

/** A pipeline that a dead process began and this one took to its end. */
interface ResumedPipeline {
  readonly plan: PipelinePlan
  readonly sessionId: string
  readonly exitCode: ExitCode
}

/** Settings of one execution that differ from the usual ones. */
interface Executing {
  readonly workspace?: SkillWorkspace
  readonly signal?: AbortSignal
  readonly tier?: ModelTier | null
  readonly tokensMax?: number | null
}

function isPipeline(tasks: TaskRunRequest["tasks"]): tasks is PipelineFile {
  return typeof tasks === "object" && "steps" in tasks
}

function sixDigits(): string {
  return crypto.randomUUID().slice(0, 6)
}

function isStillRunnable(folder: TaskFolder, { id }: Task): boolean {
  try {
    return isRunnable(readTaskFile(folder, id).task.status)
  } catch (error) {
    if (error instanceof ExecutionError) return false
    throw error
  }
}

function byUrgency(one: Task, other: Task): number {
  const keyOf = ({ priority, createdAt, id }: Task) => `${priority} ${createdAt} ${id}`
  return keyOf(one) < keyOf(other) ? -1 : 1
}

/** Enough of a task for its claim, which reads it anew. */
function taskOf({ taskId, skill }: TaskStep): Task {
  return {
    ...{ id: taskId, to: skill, status: "pending", priority: "P2", from: "", createdAt: "", updatedAt: "" },
    ...{ deadline: null, goalId: null, pipelineId: null, revisionCount: 0, goal: "", inputs: [] },
    ...{
      requirements: "",
      output: { path: "", format: "" },
      next: { type: "complete" },
      tags: [],
      metadata: {},
    },
  }
}

/** Returns whether another process was quicker. */
function isTaken({ error }: ExecutionResult): boolean {
  return error?.code === "TASK_CLAIMED" || error?.code === "TASK_NOT_EXECUTABLE"
}

function refusedResult(taskId: string, error: ExecutionError): ExecutionResult {
  return {
    ...{ taskId, skill: "", status: "failed", outputPath: null, durationMs: 0, warnings: [], error },
    tokensUsed: { input: 0, output: 0, total: 0 },
  }
}

function codeIn({ status, error }: ExecutionResult): ExecutionErrorCode | null {
  return status === "completed" ? null : (error?.code ?? "UNKNOWN")
}
