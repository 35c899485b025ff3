import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AcodeRun, type RunningAcode, runAcode, startAcode } from "../acode.ts"
import { type TempWorkspace, type TempWorkspaceOptions, tempWorkspace } from "../workspace/temp-workspace.ts"

/** One reply of a scripted model, as `acode schema script` describes it. */
export type ReplyText = Readonly<Record<string, unknown>>

/** One line of the event stream. */
export interface StreamedEvent {
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly session: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface AgentRun extends AcodeRun {
  readonly events: readonly StreamedEvent[]
  /** The data of all events of one type. */
  data(type: string): readonly Readonly<Record<string, unknown>>[]
}

/** A workspace with a script beside it, for the commands of the agent lane. */
export interface AgentWorkspace extends Disposable {
  readonly workspace: TempWorkspace
  readonly scriptFile: string
  readonly environment: Readonly<Record<string, string>>
  script(...replies: readonly ReplyText[]): void
  acode(...args: readonly string[]): Promise<AcodeRun>
  /** `acode run` with the script and `--json`, to its end. */
  run(...flags: readonly string[]): Promise<AgentRun>
  resume(...flags: readonly string[]): Promise<AgentRun>
  /** The same while it works: for signals and other terminals. */
  start(...args: readonly string[]): RunningAcode
  file(path: string): string | null
}

export function agentWorkspace(options: TempWorkspaceOptions = {}): AgentWorkspace {
  const workspace = tempWorkspace(options)
  const scriptFile = join(workspace.outside, "script.json")
  // Skills of the person who runs the tests are no part of them.
  const environment = { ...workspace.environment, HOME: workspace.outside }
  const run = { cwd: workspace.root, env: environment }
  const driven = async (...args: readonly string[]) =>
    agentRun(await runAcode([...args, "--script", scriptFile, "--json"], run))
  return {
    workspace,
    scriptFile,
    environment,
    script: (...replies) => writeFileSync(scriptFile, JSON.stringify({ replies })),
    acode: (...args) => runAcode(args, run),
    run: (...flags) => driven("run", "do what is asked", ...flags),
    resume: (...flags) => driven("resume", ...flags),
    start: (...args) => startAcode(args, run),
    file: path => {
      const absolute = join(workspace.root, path)
      return existsSync(absolute) ? readFileSync(absolute, "utf8") : null
    },
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  }
}

export function agentRun(run: AcodeRun): AgentRun {
  const events = run.stdout
    .split("\n")
    .filter(line => line.startsWith('{"schema"'))
    .map(line => JSON.parse(line) as StreamedEvent)
  return {
    ...run,
    events,
    data: type => events.filter(event => event.type === type).map(event => event.data),
  }
}
