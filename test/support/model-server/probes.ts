import type { Json } from "../../../src/base/canonical.ts"
import type { FakeReply, Received } from "./contract.ts"
import { callsTools, says } from "./replies.ts"
import { type RequestFacts, requestFacts } from "./request-facts.ts"
import { sample } from "./sample.ts"

/**
 * Answers acode's probes as a capable model would; null for any other request. The model has the abilities of the
 * server: with one that ignores tools it does not call any.
 */
export function probeAnswer(received: Received): FakeReply | null {
  const facts = requestFacts(received.protocol, received.body)
  if (!isProbe(facts)) return null
  const wanted = wantedArguments(facts.lastUserText)
  const [tool] = facts.tools
  if (tool !== undefined)
    return received.callsTools
      ? callsTools([tool.name, wanted ?? sample(tool.parameters)])
      : says("I have no tools.")
  const name = /acode_probe\w*/.exec(facts.lastUserText)?.[0] ?? "acode_probe"
  const action = JSON.stringify({ tool: name, arguments: wanted ?? {} })
  if (facts.schema === null) return says(wanted === null ? "ok" : `\`\`\`tool\n${action}\n\`\`\``)
  if (!received.followsSchemas) return says("As you wish.")
  return says(wanted === null ? JSON.stringify(sample(facts.schema.schema)) : action)
}

function isProbe({ tools, schema, lastUserText }: RequestFacts): boolean {
  if (tools.some(({ name }) => name.startsWith("acode_probe"))) return true
  return schema?.name.startsWith("acode_probe") === true || lastUserText.startsWith("acode probe")
}

/** Returns the arguments that a request asks for; null when it names none. */
function wantedArguments(text: string): Json | null {
  const shown = /with the arguments (\{.*\})/.exec(text)?.[1]
  return shown === undefined ? null : (JSON.parse(shown) as Json)
}
