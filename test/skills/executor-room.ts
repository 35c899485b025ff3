import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readTask, taskText } from "../../src/domain/skill/task-text.ts"
import type { Task } from "../../src/domain/task.ts"
import {
  AgentExecutor,
  type ClaudeClient,
  createDefaultConfig,
  type ExecuteOptions,
  type ExecutionResult,
  type ExecutorConfig,
  type OpenSkillWorkspace,
  openSkillWorkspace,
} from "../../src/library.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { type ClientKind, type TestedClients, testedClients } from "./tested-clients.ts"

export interface ExecutorRoom extends TestedClients {
  readonly temp: TempWorkspace
  readonly workspace: OpenSkillWorkspace
  /** How long the executor waited between attempts. */
  readonly waits: number[]
  /** Writes the file of a task, and gives what was written. */
  task(changes?: Partial<Task>): Task
  execute(
    client: ClaudeClient,
    task: Task,
    options?: ExecuteOptions & { readonly config?: Partial<ExecutorConfig> },
  ): Promise<ExecutionResult>
  stored(id?: string): Task
  file(path: string): string | null
}

export const contextText = "We sell an editor for engineers."

/** A workspace with three skills, a context and no task yet; the executor waits for nothing. */
export async function executorRoom(kind: ClientKind): Promise<ExecutorRoom> {
  const clients = await testedClients(kind)
  const temp = tempWorkspace({
    files: {
      ".agents/skills/copywriting/SKILL.md":
        "---\nname: copywriting\ndescription: Writes.\nmetadata:\n  squad: creative\n---\nYou write.\n",
      ".agents/skills/copywriting/references/voice.md": "Calm.",
      ".agents/skills/plain/SKILL.md": "---\nname: plain\ndescription: Plain.\n---\nPlainly.",
      ".agents/skills/product-marketing-context/SKILL.md":
        "---\nname: product-marketing-context\ndescription: Context.\n---\nSay what we sell.",
      "context/product-marketing-context.md": contextText,
    },
  })
  const workspace = openSkillWorkspace(temp.root, {
    variables: { ...temp.environment, HOME: temp.outside },
  })
  const waits: number[] = []
  const file = (path: string): string | null => {
    try {
      return readFileSync(join(temp.root, path), "utf8")
    } catch {
      // That it is not there is the answer.
      return null
    }
  }
  return {
    ...clients,
    temp,
    workspace,
    waits,
    file,
    task: changes => {
      const task = exampleTask(changes)
      temp.write(`tasks/${task.id}.md`, taskText(task))
      return task
    },
    execute: (client, task, { config, ...options } = {}) => {
      const timing = {
        monotonicMs: () => performance.now(),
        sleep: async (ms: number) => void waits.push(ms),
        jitter: () => 0.5,
      }
      return new AgentExecutor(client, workspace, createDefaultConfig(config), timing).execute(task, options)
    },
    stored: (id = exampleTask().id) => {
      const reading = readTask(file(`tasks/${id}.md`) ?? "")
      if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
      return reading.task
    },
    [Symbol.asyncDispose]: async () => {
      await workspace.close()
      await clients[Symbol.asyncDispose]()
      temp[Symbol.dispose]()
    },
  }
}
