import type { Rung } from "../../../src/domain/model-choice.ts"
import type {
  ModelItem,
  ModelMessage,
  ModelReply,
  ModelRequest,
  Provider,
  ToolDescription,
} from "../../../src/provider/contract.ts"
import { withRung } from "../../../src/provider/ladder/ladder.ts"
import { collect } from "../../../src/provider/reply.ts"
import { never, requestOf } from "../provider-kit.ts"

export const readTool: ToolDescription = {
  name: "read_file",
  description: "Reads a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, from_line: { type: "integer" } },
    required: ["path"],
    additionalProperties: false,
  },
}

export const writeTool: ToolDescription = {
  name: "write_file",
  description: "Writes a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
    additionalProperties: false,
  },
}

export const offered: ReadonlySet<string> = new Set(["read_file", "write_file"])

export function toolRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return requestOf({ stage: "executor", replyIndex: 3, tools: [readTool, writeTool], ...changes })
}

/** A model that says these items, and remembers what it was asked. */
export function listening(items: readonly ModelItem[]): Provider & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = []
  return {
    name: "listening",
    asked,
    async *ask(request) {
      asked.push(request)
      yield* items
    },
  }
}

export interface Heard extends ModelReply {
  /** What was shown while it came. */
  readonly shown: readonly string[]
}

export async function heard(
  rung: Rung,
  items: readonly ModelItem[],
  request = toolRequest(),
): Promise<Heard> {
  const shown: string[] = []
  const asked = withRung(listening(items), rung).ask(request, never)
  const reply = await collect(asked, never, text => void shown.push(text))
  return { ...reply, shown }
}

/** What becomes of a reply that consists of this text, cut into pieces of this size. */
export function heardText(rung: Rung, text: string, size = 5): Promise<Heard> {
  return heard(rung, [...pieces(text, size), { kind: "end", reason: "stop" }])
}

export function pieces(text: string, size: number): ModelItem[] {
  const all: ModelItem[] = []
  for (let at = 0; at < text.length; at += size) all.push({ kind: "text", text: text.slice(at, at + size) })
  return all
}

export function callText(tool: string, args: unknown): string {
  return JSON.stringify({ tool, arguments: args })
}

export function block(tool: string, args: unknown): string {
  return `\`\`\`tool\n${callText(tool, args)}\n\`\`\``
}

export function systemText(messages: readonly ModelMessage[] = []): string {
  return messages.find(({ role }) => role === "system")?.text ?? ""
}
