import type { ExternalCalls } from "../domain/external-calls.ts"
import type { ExecutionError } from "../domain/skill/execution-error.ts"
import type { SkillContent } from "../domain/skill/skill-text.ts"
import type { Task } from "../domain/task.ts"

/** A model that answers one message. */
export interface ClaudeClient {
  /** Throws an ExecutionError, or whatever a bug throws. */
  complete(request: ClaudeRequest): Promise<ClaudeResponse>
}

export interface ClaudeRequest {
  readonly systemPrompt: string
  readonly userMessage: string
  readonly model: string
  readonly maxTokens: number
  readonly signal?: AbortSignal
}

export interface ClaudeResponse {
  readonly content: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly stopReason: "end_turn" | "max_tokens" | "stop_sequence"
  /** Requests to other machines that the reply took, where the client keeps a list. */
  readonly externalCalls?: ExternalCalls
}

export const modelTiers = ["opus", "sonnet", "haiku"] as const
export type ModelTier = (typeof modelTiers)[number]

export interface AgentConfig {
  readonly modelTier: ModelTier
  readonly timeoutMs: number
  readonly maxRetries: number
}

/** Keeps tasks, context and outputs. The executor needs nothing else of it. */
export interface SkillWorkspace {
  /**
   * Makes a task the caller's: no other claim of it succeeds until this one has ended. Its status is `in_progress`
   * afterwards. Throws an ExecutionError that leaves the task as it was. `aborted` is checked before anything is done.
   */
  claim(task: Task, signal: AbortSignal | undefined): Promise<TaskClaim>
}

/** A task that only its holder executes. Ends with one `complete` or one `end`, whichever is called first. */
export interface TaskClaim {
  /** The task as stored. */
  readonly task: Task
  /** A reply that an earlier process recorded and whose output it did not write: it is not asked for again. */
  readonly recordedReply: ClaudeResponse | null
  /** Attempts of earlier processes that failed, and the last of them. */
  readonly attemptsMade: number
  readonly recordedFailure: ExecutionError | null
  /** Throws ExecutionError SKILL_NOT_FOUND. */
  skill(): Promise<SkillContent>
  /** Null where the workspace has none. */
  context(): Promise<string | null>
  /** Throws ExecutionError INPUT_NOT_FOUND. */
  input(path: string): Promise<string>
  /** Records that a model is about to be asked, and returns the request as it may be sent. */
  asked(request: ClaudeRequest, attempt: number): ClaudeRequest
  /** Records what came of it, before anything is done with it. */
  replied(attempt: number, reply: ClaudeResponse | ExecutionError, durationMs: number): void
  /** Writes the output, then the status `completed`. */
  complete(content: string, result: ClaimResult): Promise<WrittenOutput>
  /** Writes the status that follows from the error. */
  end(error: ExecutionError, result: ClaimResult): Promise<void>
}

export interface WrittenOutput {
  readonly outputPath: string
  /** Warnings of the result and of writing the output. */
  readonly warnings: readonly string[]
}

export interface ClaimResult {
  readonly warnings: readonly string[]
  readonly inputTokens: number
  readonly outputTokens: number
  readonly durationMs: number
}

export type ExecutionStatus = "completed" | "failed"

export interface ExecutionResult {
  readonly taskId: string
  readonly skill: string
  readonly status: ExecutionStatus
  /** Null where nothing was written. */
  readonly outputPath: string | null
  /** Sum over all attempts, as far as the server reported it. */
  readonly tokensUsed: { readonly input: number; readonly output: number; readonly total: number }
  readonly durationMs: number
  /** Oddities of the prompt and the output, also of a task that failed. */
  readonly warnings: readonly string[]
  /** The reason why it failed; RESPONSE_TRUNCATED for a completed task whose output was cut off. */
  readonly error?: ExecutionError
}
