import { readEnvironment } from "../config/environment.ts"
import { toPipelineLimits } from "../config/settings.ts"
import type { EnvironmentMode, SandboxChoice } from "../domain/command.ts"
import type { ExecutionRecord } from "../domain/command-result.ts"
import type { Mode } from "../domain/model-choice.ts"
import { plainSettings } from "../domain/pipeline-settings.ts"
import { planFailure } from "../domain/plan/problem.ts"
import type { PlanWatcher } from "../engine/lanes/plan-lane.ts"
import type { PlanReport } from "../engine/lanes/plan-result.ts"
import { usualMode } from "../models/mode.ts"
import type { StoredEvent } from "../store/contract.ts"
import type { PlanApproval } from "../store/session/contract.ts"
import type { ApprovalPrompt } from "./approval-desk.ts"
import { openService } from "./local-service.ts"
import { readCitedPlan } from "./plan-tools.ts"
import { readYes } from "./policy-yes.ts"
import type { AppService } from "./service.ts"
import type { AgentEnd } from "./verbs/agent.ts"

export interface AcodeOptions {
  /** Stands in for the environment of this process. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** Receives the notices that the command line prints. */
  readonly notice?: (text: string) => void
  /** The configuration file to use instead of `.agent/config.yml`. */
  readonly configFile?: string
}

/**
 * The commands of acode for a program: each one does and records what the command of its name does. What cannot be
 * begun throws a `Failure`; how something ended that was begun is in its result.
 */
export interface Acode extends AsyncDisposable {
  /** Runs one program, confined and recorded, as `acode exec` does. The words are used as they are, without a shell. */
  exec(words: readonly string[], options?: ExecOptions): Promise<ExecutionRecord>
  /** Approves exactly this plan, the text of a plan file, as `acode plan approve` does. */
  approvePlan(plan: string, options?: { readonly forMs?: number }): Promise<PlanApproval>
  /** Runs a plan that is approved, as `acode plan run` does. */
  runPlan(plan: string, options?: PlanOptions): Promise<PlanReport>
  /** Works on a goal, as `acode run` does. */
  run(goal: string, options?: RunOptions): Promise<AgentEnd>
  /** Waits for nothing that was begun: await it first. */
  close(): Promise<void>
}

export interface ExecOptions {
  /** The working directory, in the workspace. */
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly environmentMode?: EnvironmentMode
  readonly timeoutMs?: number
  readonly memoryBytesMax?: number
  readonly sandbox?: SandboxChoice
  readonly signal?: AbortSignal
  /** Receives the output as it comes, with its secrets; the result has none. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => Promise<void> | void
}

export interface PlanOptions {
  /** Answers what a step asks for; without it every question is denied. */
  readonly answer?: ApprovalPrompt
  readonly watcher?: PlanWatcher
  readonly signal?: AbortSignal
}

export interface RunOptions {
  /** A name, as `--model` takes it. */
  readonly model?: string
  /** A file of replies that stands in for a model. */
  readonly script?: string
  /** Naming `burst` consents to it. */
  readonly mode?: Mode
  /** The scopes that are answered with yes, as `--yes` takes them, such as `plan,file_write`. */
  readonly yes?: string
  readonly planOnly?: boolean
  /** Answers every other question; without it the session rests where it needs an answer. */
  readonly answer?: ApprovalPrompt
  readonly onEvent?: (event: StoredEvent) => void
  /** Receives the text of a model as it comes. */
  readonly onText?: (text: string) => void
  /** Pauses the session, and ends what it is doing; `acode resume` continues it. */
  readonly signal?: AbortSignal
}

const approvedForMs = 3_600_000

/** Opens a workspace. Nothing is read or written before the first command. */
export function openAcode(root: string, { variables, notice, configFile }: AcodeOptions = {}): Acode {
  const tell = notice ?? (() => undefined)
  const environment = readEnvironment(variables)
  const open = (yes?: string): AppService =>
    openService({
      environment,
      workspace: root,
      configFile,
      notice: tell,
      yes: yes === undefined ? undefined : readYes(yes, false),
    })
  let opened: AppService | null = null
  const service = () => {
    opened ??= open()
    return opened
  }
  const close = async () => {
    await opened?.close()
    opened = null
  }
  return {
    exec: (words, options = {}) => execute(service(), words, options),
    approvePlan: async (plan, { forMs = approvedForMs } = {}) =>
      service().approvePlan(await planOf(service(), plan), forMs, () => undefined),
    runPlan: async (plan, { answer, watcher = {}, signal = never() } = {}) =>
      service().runPlan({
        plan: await planOf(service(), plan),
        where: "-",
        approvalId: null,
        isInteractive: answer !== undefined,
        prompt: answer ?? (async () => null),
        notice: tell,
        watcher,
        signal,
      }),
    run: async (goal, options = {}) => {
      // Answers that are given in advance hold for one session.
      const own = open(options.yes)
      try {
        return await work(own, goal, options, tell)
      } finally {
        await own.close()
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function never(): AbortSignal {
  return new AbortController().signal
}

async function execute(service: AppService, words: readonly string[], options: ExecOptions) {
  const { cwd, environment = {}, environmentMode, timeoutMs, memoryBytesMax, sandbox } = options
  const form = { isLiteral: true, useShell: undefined, cwd, environment, timeoutMs, memoryBytesMax }
  const { signal, onOutput } = options
  return service.execute(
    await service.commandOf(words, form),
    {
      ...(environmentMode === undefined ? {} : { environmentMode }),
      ...(sandbox === undefined ? {} : { sandbox }),
    },
    { ...(signal === undefined ? {} : { signal }), ...(onOutput === undefined ? {} : { onOutput }) },
  )
}

/** Throws a Failure with every problem of the plan. */
async function planOf(service: AppService, text: string) {
  const reading = await readCitedPlan(text, () => service.evidence())
  if ("plan" in reading) return reading.plan
  throw planFailure(reading.problems, "-")
}

async function work(
  service: AppService,
  goal: string,
  options: RunOptions,
  notice: (text: string) => void,
): Promise<AgentEnd> {
  const { model = null, script, mode, yes = null, planOnly = false, answer, signal = never() } = options
  const { values } = await service.config()
  return service.run(
    goal,
    {
      ...plainSettings,
      mode: mode ?? usualMode(values.mode),
      limits: toPipelineLimits(values),
      model,
      yes,
      planOnly,
    },
    {
      model: { script, record: undefined, replay: undefined },
      isInteractive: answer !== undefined,
      acceptsPlans: yes !== null && readYes(yes, false).scopes.plan,
      prompt: answer ?? (async () => null),
      onEvent: options.onEvent ?? (() => undefined),
      onText: options.onText ?? (() => undefined),
      stopping: { drain: signal, stop: signal },
      waits: false,
      notice,
    },
  )
}
