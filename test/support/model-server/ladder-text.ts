import type { Json } from "../../../src/base/canonical.ts"
import type { FakeReply } from "./contract.ts"
import type { RequestFacts } from "./request-facts.ts"

/**
 * The same reply by a model that cannot call tools: as the object that a schema asks for, or as the block of the text
 * protocol. A schema allows one call only, so what a script says beyond that is lost, as it would be.
 */
export function asText(reply: FakeReply, { schema }: RequestFacts, followsSchemas: boolean): FakeReply {
  if (reply.calls.length === 0) return reply
  const end = reply.end === "calls" ? "stop" : reply.end
  const objects = reply.calls.map(({ tool, arguments: args }) => JSON.stringify({ tool, arguments: args }))
  if (schema !== null && followsSchemas) return { ...reply, text: objects[0] ?? "", calls: [], end }
  const blocks = objects.map(object => `\`\`\`tool\n${object}\n\`\`\``)
  const text = [reply.text, ...blocks].filter(part => part !== "").join("\n\n")
  return { ...reply, text, calls: [], end }
}

/** The answer where a request has it given by a tool: a model that must call it does, with what it would say. */
export function asForced(reply: FakeReply, { schema }: RequestFacts): FakeReply {
  const tool = schema?.tool ?? null
  if (tool === null || reply.calls.length > 0) return reply
  const said = jsonIn(reply.text)
  if (said === undefined) return reply
  const call = { id: null, tool: tool.name, arguments: tool.isWrapped ? { answer: said } : said }
  return { ...reply, text: "", calls: [call], end: reply.end === "stop" ? "calls" : reply.end }
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // The test wants to see that a reply which is not JSON is refused.
    return undefined
  }
}
