import {
  defaultRetryableErrors,
  ExecutionError,
  type ExecutionErrorCode,
  executionErrorOf,
  longestWaitMs,
  retryDelayMs,
} from "../domain/skill/execution-error.ts"
import { buildPrompt, type UpstreamOutput } from "../domain/skill/prompt.ts"
import { isRunnable, type Task } from "../domain/task.ts"
import {
  type AgentConfig,
  type ClaimResult,
  type ClaudeClient,
  type ClaudeRequest,
  type ClaudeResponse,
  type ExecutionResult,
  type ModelTier,
  modelTiers,
  type SkillWorkspace,
  type TaskClaim,
} from "./contract.ts"
import { cancellableSleep } from "./sleep.ts"

export interface ExecutorConfig {
  readonly modelMap: Readonly<Record<ModelTier, string>>
  readonly defaultModelTier: ModelTier
  /** Limit for one attempt. */
  readonly defaultTimeoutMs: number
  readonly defaultMaxTokens: number
  /** The maximum number of attempts after the first one. */
  readonly maxRetries: number
  /** The delay before the first retry; doubled for each further one. */
  readonly retryDelayMs: number
  /** Makes each delay a random part of what it would be, so that many runners do not come back at once. */
  readonly retryJitter: boolean
  readonly retryableErrors: readonly ExecutionErrorCode[]
  /** Skills other than this one work with the product context; null where none makes it. */
  readonly foundationSkill: string | null
  /** A missing product context fails the task. */
  readonly strictContext: boolean
}

export const DEFAULT_MODEL_MAP: Readonly<Record<ModelTier, string>> = {
  opus: "claude-opus-4-6",
  sonnet: "claude-sonnet-4-5-20250929",
  haiku: "claude-haiku-4-5-20251001",
}

export function createDefaultConfig(overrides: Partial<ExecutorConfig> = {}): ExecutorConfig {
  return {
    modelMap: DEFAULT_MODEL_MAP,
    defaultModelTier: "sonnet",
    defaultTimeoutMs: 120_000,
    defaultMaxTokens: 4096,
    maxRetries: 2,
    retryDelayMs: 1_000,
    retryJitter: false,
    retryableErrors: defaultRetryableErrors,
    foundationSkill: "product-marketing-context",
    strictContext: false,
    ...overrides,
  }
}

/** Time and chance, for who wants to decide them. */
export interface ExecutorTiming {
  readonly monotonicMs: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** A number from 0 to 1. */
  readonly jitter: () => number
}

const realTiming: ExecutorTiming = {
  monotonicMs: () => performance.now(),
  sleep: cancellableSleep,
  jitter: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
}

export interface ExecuteOptions {
  readonly signal?: AbortSignal | undefined
  readonly agentConfig?: Partial<AgentConfig>
}

/** Executes one task with one skill and writes one output. Keeps nothing between two tasks, and never throws. */
export class AgentExecutor {
  constructor(
    private readonly client: ClaudeClient,
    private readonly workspace: SkillWorkspace,
    private readonly config: ExecutorConfig,
    private readonly timing: ExecutorTiming = realTiming,
  ) {}

  async execute(task: Task, options: ExecuteOptions = {}): Promise<ExecutionResult> {
    const beganMs = this.timing.monotonicMs()
    const spent: Spent = { input: 0, output: 0, warnings: [] }
    const durationMs = () => Math.max(0, Math.round(this.timing.monotonicMs() - beganMs))
    let claim: TaskClaim | null = null
    try {
      if (!isRunnable(task.status))
        throw new ExecutionError(`its status is ${task.status}`, "TASK_NOT_EXECUTABLE", task.id)
      if (isAborted(options.signal)) throw new ExecutionError("stopped before it began", "ABORTED", task.id)
      claim = await this.workspace.claim(task, options.signal)
      return await this.perform(claim, options, spent, durationMs)
    } catch (thrown) {
      const error = await this.ended(claim, executionErrorOf(thrown, task.id), resultOf(spent, durationMs()))
      return failed(task, error, resultOf(spent, durationMs()))
    }
  }

  private async perform(
    claim: TaskClaim,
    { signal, agentConfig = {} }: ExecuteOptions,
    spent: Spent,
    durationMs: () => number,
  ): Promise<ExecutionResult> {
    const { task } = claim
    const reply = claim.recordedReply ?? (await this.ask(claim, agentConfig, signal, spent))
    if (claim.recordedReply !== null) count(spent, reply)
    if (reply.content.trim() === "")
      throw new ExecutionError("the model gave an empty reply", "RESPONSE_EMPTY", task.id)
    const truncated =
      reply.stopReason === "max_tokens"
        ? new ExecutionError(
            "the reply was cut off at the limit of tokens; what there is of it was written",
            "RESPONSE_TRUNCATED",
            task.id,
          )
        : null
    if (truncated !== null) spent.warnings.push(truncated.message)
    const result = resultOf(spent, durationMs())
    const { outputPath, warnings } = await claim.complete(reply.content, result)
    return {
      taskId: task.id,
      skill: task.to,
      status: "completed",
      outputPath,
      warnings,
      tokensUsed: tokensOf(spent),
      durationMs: durationMs(),
      ...(truncated === null ? {} : { error: truncated }),
    }
  }

  /** Writes the final status. A failure to write it is added to the error, because a person has to check the file. */
  private async ended(
    claim: TaskClaim | null,
    error: ExecutionError,
    result: ClaimResult,
  ): Promise<ExecutionError> {
    try {
      await claim?.end(error, result)
      return error
    } catch (thrown) {
      const second = executionErrorOf(thrown, error.taskId)
      return new ExecutionError(
        `${error.message}; and its status could not be written: ${second.message}`,
        error.code,
        error.taskId,
        second,
      )
    }
  }

  private async ask(
    claim: TaskClaim,
    agentConfig: Partial<AgentConfig>,
    signal: AbortSignal | undefined,
    spent: Spent,
  ): Promise<ClaudeResponse> {
    const request = await this.request(claim, agentConfig, spent)
    const timeoutMs = agentConfig.timeoutMs ?? this.config.defaultTimeoutMs
    const attemptsMax = (agentConfig.maxRetries ?? this.config.maxRetries) + 1
    const { recordedFailure, attemptsMade } = claim
    if (recordedFailure !== null && !this.mayRetry(recordedFailure, attemptsMade, attemptsMax))
      throw recordedFailure
    for (let attempt = attemptsMade + 1; ; attempt++) {
      const reply = await this.attempt(claim, request, { attempt, timeoutMs, signal })
      count(spent, reply)
      if (!(reply instanceof ExecutionError)) return reply
      if (!this.mayRetry(reply, attempt, attemptsMax)) throw reply
      await this.wait(reply, attempt, signal)
    }
  }

  private mayRetry({ code, request }: ExecutionError, attempt: number, attemptsMax: number): boolean {
    if (code === "ABORTED" || !this.config.retryableErrors.includes(code)) return false
    return attempt < attemptsMax && (request?.retryAfterMs ?? 0) <= longestWaitMs
  }

  private async wait({ request }: ExecutionError, attempt: number, signal: AbortSignal | undefined) {
    const wholeMs = retryDelayMs(this.config.retryDelayMs, attempt, null)
    const delayMs = this.config.retryJitter ? wholeMs * this.timing.jitter() : wholeMs
    await this.timing.sleep(Math.max(delayMs, request?.retryAfterMs ?? 0), signal)
  }

  private async request(
    claim: TaskClaim,
    { modelTier }: Partial<AgentConfig>,
    { warnings }: Spent,
  ): Promise<ClaudeRequest> {
    const { task } = claim
    const skillContent = await claim.skill()
    warnings.push(...skillContent.leftOut.map(reason => `the skill ${skillContent.name}: ${reason}`))
    const productContext = await claim.context()
    if (productContext === null && task.to !== this.config.foundationSkill) {
      if (this.config.strictContext)
        throw new ExecutionError("the workspace has no product context", "CONTEXT_NOT_FOUND", task.id)
      warnings.push("there is no product context (the file at skills.context), and the prompt says so")
    }
    const upstreamOutputs: UpstreamOutput[] = []
    for (const { path, description } of task.inputs)
      upstreamOutputs.push({ path, description, content: await claim.input(path) })
    const prompt = buildPrompt({ skillContent, task, productContext, upstreamOutputs })
    const tier = modelTier ?? tierIn(task) ?? this.config.defaultModelTier
    return { ...prompt, model: this.config.modelMap[tier], maxTokens: this.config.defaultMaxTokens }
  }

  /** Sends one request. The deadline has a controller of its own, so that a timeout is not taken for an abort. */
  private async attempt(
    claim: TaskClaim,
    asked: ClaudeRequest,
    { attempt, timeoutMs, signal }: Attempt,
  ): Promise<ClaudeResponse | ExecutionError> {
    if (isAborted(signal))
      throw new ExecutionError("stopped before the model was asked", "ABORTED", claim.task.id)
    const controller = new AbortController()
    let isLate = false
    const timer = setTimeout(
      () => {
        isLate = true
        controller.abort()
      },
      Math.min(timeoutMs, longestTimerMs),
    )
    const abort = () => controller.abort()
    signal?.addEventListener("abort", abort)
    const beganMs = this.timing.monotonicMs()
    const request = { ...claim.asked(asked, attempt), signal: controller.signal }
    try {
      const reply = await settled(asking(this.client, request), controller.signal, claim.task.id)
      const isTimeout = isLate && !isAborted(signal) && reply instanceof ExecutionError
      const told = isTimeout ? timedOut(claim.task.id, timeoutMs, reply) : reply
      // An abort is not a reply: a process that resumes the task asks again.
      if (told instanceof ExecutionError && told.code === "ABORTED") throw told
      claim.replied(attempt, told, Math.round(this.timing.monotonicMs() - beganMs))
      return told
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
    }
  }
}

/** A timer for longer fires at once. No attempt takes as long as this. */
const longestTimerMs = 2 ** 31 - 1

/** Asks a client; one that throws before it returns a promise is treated like one whose promise is rejected. */
async function asking(client: ClaudeClient, request: ClaudeRequest): Promise<ClaudeResponse> {
  return client.complete(request)
}

interface Attempt {
  readonly attempt: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** Tokens and warnings of one execution, also of one that fails. */
interface Spent {
  input: number
  output: number
  readonly warnings: string[]
}

/** Returns as soon as the signal fires, also where the client does not. */
function settled(
  reply: Promise<ClaudeResponse>,
  signal: AbortSignal,
  taskId: string,
): Promise<ClaudeResponse | ExecutionError> {
  return new Promise(resolve => {
    const abort = () => resolve(new ExecutionError("stopped while the model was asked", "ABORTED", taskId))
    signal.addEventListener("abort", abort, { once: true })
    reply.then(
      response => {
        signal.removeEventListener("abort", abort)
        resolve(response)
      },
      (thrown: unknown) => {
        signal.removeEventListener("abort", abort)
        resolve(executionErrorOf(thrown, taskId))
      },
    )
  })
}

function timedOut(taskId: string, timeoutMs: number, { request }: ExecutionError): ExecutionError {
  const message = `the model did not answer within ${timeoutMs / 1000} s`
  return new ExecutionError(message, "API_TIMEOUT", taskId, undefined, request)
}

function count(spent: Spent, reply: ClaudeResponse | ExecutionError): void {
  const tokens = reply instanceof ExecutionError ? reply.request : reply
  spent.input += tokens?.inputTokens ?? 0
  spent.output += tokens?.outputTokens ?? 0
}

function tokensOf({ input, output }: Pick<Spent, "input" | "output">): ExecutionResult["tokensUsed"] {
  return { input, output, total: input + output }
}

function resultOf({ warnings, input, output }: Spent, durationMs: number): ClaimResult {
  return { warnings: [...warnings], inputTokens: input, outputTokens: output, durationMs }
}

function failed({ id, to }: Task, error: ExecutionError, result: ClaimResult): ExecutionResult {
  const { inputTokens, outputTokens, warnings, durationMs } = result
  return {
    taskId: id,
    skill: to,
    status: "failed",
    outputPath: null,
    warnings,
    durationMs,
    error,
    tokensUsed: tokensOf({ input: inputTokens, output: outputTokens }),
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

function tierIn({ metadata }: Task): ModelTier | null {
  return modelTiers.find(tier => tier === metadata["model_tier"]) ?? null
}
