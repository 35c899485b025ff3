import { readEnvironment } from "../../config/environment.ts"
import { ExecutionError } from "../../domain/skill/execution-error.ts"
import type { SkillContent } from "../../domain/skill/skill-text.ts"
import { writingProblem } from "../../domain/skill/task-text.ts"
import type { Task } from "../../domain/task.ts"
import type { SkillWorkspace, TaskClaim } from "../../skills/contract.ts"
import { readTaskFile } from "../../skills/task-folder.ts"
import { skillPlaces } from "../wiring/skills.ts"
import { Wiring } from "../wiring/wire.ts"
import { finishSkillSession, newSkillSession, type SkillSession, skillFor, taskFolder } from "./session.ts"

export interface SkillWorkspaceOptions {
  /** Stands in for the environment of this process. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** Receives the notices that the command line prints. */
  readonly notice?: (text: string) => void
  /** Lets outputs replace files which their tasks did not write. False when left out. */
  readonly mayOverwrite?: boolean
}

/** The tasks of a workspace, for a program that executes them itself. */
export interface OpenSkillWorkspace extends SkillWorkspace, AsyncDisposable {
  readTask(id: string): Promise<Task>
  /** Writes the file of a new task. Throws ExecutionError TASK_INVALID for one that is not valid or exists. */
  createTask(task: Task): Promise<void>
  /** Records the end of the session that the executed tasks belong to. */
  close(): Promise<void>
}

/** Opens a workspace. Nothing is read or written before the first task is. */
export function openSkillWorkspace(root: string, options: SkillWorkspaceOptions = {}): OpenSkillWorkspace {
  return new LazyWorkspace(root, options)
}

/** Reads a skill of a workspace, or of one of the usual places. Throws ExecutionError SKILL_NOT_FOUND. */
export async function loadSkillContent(name: string, projectRoot: string): Promise<SkillContent> {
  using wiring = new Wiring({ environment: readEnvironment(), workspace: projectRoot, configFile: undefined })
  const { values } = await wiring.config()
  return skillFor(skillPlaces(wiring.root.path, wiring.request.environment, values), name, "")
}

class LazyWorkspace implements OpenSkillWorkspace {
  private opened: Wiring | null = null
  private session: Promise<SkillSession> | null = null

  constructor(
    private readonly root: string,
    private readonly options: SkillWorkspaceOptions,
  ) {}

  async readTask(id: string): Promise<Task> {
    return readTaskFile(await taskFolder(this.wiring()), id).task
  }

  async createTask(task: Task): Promise<void> {
    const problem = writingProblem(task)
    if (problem !== null)
      throw new ExecutionError(`the task cannot be written: ${problem}`, "TASK_INVALID", task.id)
    this.session ??= this.begin()
    if (!(await (await this.session).workspace.createTask(task)))
      throw new ExecutionError(`there is a task ${task.id} already`, "TASK_INVALID", task.id)
  }

  async claim(task: Task, signal: AbortSignal | undefined): Promise<TaskClaim> {
    this.session ??= this.begin()
    return (await this.session).workspace.claim(task, signal)
  }

  async close(): Promise<void> {
    const session = await this.session?.catch(() => null)
    this.session = null
    if (session != null) await finishSkillSession(this.wiring(), session)
    this.opened?.[Symbol.dispose]()
    this.opened = null
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private wiring(): Wiring {
    const { variables, notice } = this.options
    this.opened ??= new Wiring({
      environment: readEnvironment(variables),
      workspace: this.root,
      configFile: undefined,
      notice,
    })
    return this.opened
  }

  private begin(): Promise<SkillSession> {
    const { notice = () => undefined, mayOverwrite = false } = this.options
    return newSkillSession(this.wiring(), {
      goal: "execute tasks for a program",
      settings: { mode: "burst", server: null },
      stepCount: 0,
      takeCalls: () => ({}),
      onEvent: () => undefined,
      notice,
      onBusy: () => undefined,
      mayOverwrite,
    })
  }
}
