import { ExecutionError } from "../domain/skill/execution-error.ts"
import type { ClaudeClient, ClaudeRequest, ClaudeResponse } from "./contract.ts"
import { cancellableSleep } from "./sleep.ts"

/** A client for tests: it returns prepared answers and keeps all requests. */
export class MockClaudeClient implements ClaudeClient {
  /** Every request, also one that was aborted or failed. */
  readonly calls: ClaudeRequest[] = []
  private error: { readonly error: Error; times: number } | null = null
  private delayMs = 0

  constructor(private readonly generate?: (request: ClaudeRequest) => ClaudeResponse) {}

  /** The next `times` requests fail. */
  setError(error: Error, times = 1): void {
    this.error = { error, times }
  }

  clearError(): void {
    this.error = null
  }

  setDelay(ms: number): void {
    this.delayMs = ms
  }

  async complete(request: ClaudeRequest): Promise<ClaudeResponse> {
    this.calls.push(request)
    if (request.signal?.aborted === true) throw new ExecutionError("aborted", "ABORTED", "")
    if (this.delayMs > 0) await cancellableSleep(this.delayMs, request.signal)
    const { error } = this
    if (error !== null && error.times > 0) {
      error.times -= 1
      throw error.error
    }
    if (this.generate !== undefined) return this.generate(request)
    return { content: "Mock output for task", inputTokens: 100, outputTokens: 200, stopReason: "end_turn" }
  }
}
