import {
  AnthropicClaudeClient,
  type ClaudeClient,
  type ClaudeRequest,
  type ClaudeResponse,
  ExecutionError,
  type ExecutionErrorCode,
  MockClaudeClient,
} from "../../src/library.ts"
import type { FakeReply, FakeServer, Fault, Received } from "../support/model-server/contract.ts"
import { at } from "../support/model-server/json.ts"
import { refusal } from "../support/model-server/refusals.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"

/** What is asked in the tests of the executor: each of them holds for both. */
export const clientKinds = ["the client for tests", "a server that speaks the Messages API"] as const
export type ClientKind = (typeof clientKinds)[number]

/** A client that keeps what it was asked. */
export interface TestedClient extends ClaudeClient {
  readonly calls: readonly Pick<ClaudeRequest, "systemPrompt" | "userMessage" | "model" | "maxTokens">[]
}

export interface TestedClients extends AsyncDisposable {
  /** Answers every request with this text. */
  replying(content: string | (() => string), changes?: Partial<ClaudeResponse>): TestedClient
  /** Fails that often, and answers from then on. */
  failing(code: ExecutionErrorCode, times: number): TestedClient
  /** Never answers. */
  silent(): TestedClient
}

export async function testedClients(kind: ClientKind): Promise<TestedClients> {
  return kind === "the client for tests" ? ownClients : await serverClients()
}

const laterText = "Mock output for task"
const tokens = { inputTokens: 100, outputTokens: 200 }

const ownClients: TestedClients = {
  replying: (content, changes) =>
    new MockClaudeClient(() => ({
      content: typeof content === "string" ? content : content(),
      ...tokens,
      stopReason: "end_turn",
      ...changes,
    })),
  failing: (code, times) => {
    const client = new MockClaudeClient()
    client.setError(new ExecutionError("no", code, ""), times)
    return client
  },
  silent: () => {
    const client = new MockClaudeClient()
    client.setDelay(3_600_000)
    return client
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

async function serverClients(): Promise<TestedClients> {
  let answer: () => FakeReply | Fault = () => says("nothing")
  const key = "sk-test"
  const server = await startModelServer({ protocol: "anthropic", key, answer: () => answer() })
  const client = (next: typeof answer) => {
    answer = next
    return keeping(
      server,
      new AnthropicClaudeClient({ apiKey: key, baseUrl: server.endpoint, defaultMaxTokens: 99 }),
    )
  }
  return {
    replying: (content, { inputTokens = 100, outputTokens = 200, stopReason } = {}) =>
      client(() =>
        says(typeof content === "string" ? content : content(), {
          usage: { input: inputTokens, output: outputTokens },
          end: stopReason === "max_tokens" ? "length" : "stop",
        }),
      ),
    failing: (code, times) => {
      let left = times
      return client(() => {
        left -= 1
        return left < 0 ? says(laterText) : failureOf(code)
      })
    },
    silent: () => client(() => ({ acts: [{ hang: true }] })),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function keeping({ chats }: FakeServer, client: ClaudeClient): TestedClient {
  const first = chats.length
  return {
    complete: request => client.complete(request),
    get calls() {
      return chats.slice(first).map(requestOf)
    },
  }
}

function requestOf({ body }: Received): TestedClient["calls"][number] {
  return {
    systemPrompt: String(at(body, "system") ?? ""),
    userMessage: String(at(body, "messages", 0, "content", 0, "text")),
    model: String(at(body, "model")),
    maxTokens: Number(at(body, "max_tokens")),
  }
}

/** How a server says what the code stands for. */
function failureOf(code: ExecutionErrorCode): FakeReply | Fault {
  if (code === "RESPONSE_EMPTY") return says("")
  if (code === "RESPONSE_REFUSED") return says("no", { end: "refused" })
  const status = statuses[code]
  if (status === undefined) throw new Error(`no server says ${code}`)
  return { acts: [{ send: refusal({ protocol: "anthropic", flavour: "plain" }, status, "no") }] }
}

const statuses: Partial<Record<ExecutionErrorCode, number>> = {
  API_ERROR: 500,
  API_RATE_LIMITED: 429,
  API_OVERLOADED: 529,
  API_TIMEOUT: 408,
  API_AUTH: 401,
  API_NOT_FOUND: 404,
  API_BAD_REQUEST: 400,
}
