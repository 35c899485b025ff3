import { expect, test } from "bun:test"
import { type Protocol, protocols, type Rung } from "../../../src/domain/model-choice.ts"
import { probeModel } from "../../../src/provider/ladder/probe.ts"
import { createAnthropic } from "../../../src/provider/protocols/anthropic/server.ts"
import { createOllama } from "../../../src/provider/protocols/ollama/server.ts"
import { createOpenAi } from "../../../src/provider/protocols/openai/server.ts"
import type { Transport } from "../../../src/provider/transport/contract.ts"
import { settingsOf, transportTo } from "../../provider/faults/run-case.ts"
import { scriptedAnswers } from "./scripted.ts"
import { startModelServer } from "./server.ts"

const create = {
  ollama: (transport: Transport) => createOllama(transport),
  openai: (transport: Transport) => createOpenAi(transport, null),
  anthropic: (transport: Transport) => createAnthropic(transport, "sk-fake-0123456789abcdef"),
} as const

const cases = protocols.flatMap((protocol): (readonly [Protocol, Rung, boolean, boolean])[] => [
  [protocol, "native", true, true],
  [protocol, "constrained", false, true],
  [protocol, "text", false, false],
])

test.each(cases)("%s on the rung %s is found by asking, and the script is not touched", async (...given) => {
  const [protocol, rung, native, schemas] = given
  const answer = scriptedAnswers([{ stage: "planner", text: "one" }])
  await using server = await startModelServer({ protocol, native, schemas, answer })
  const settings = settingsOf({ protocol, streams: true, flavour: "plain" })
  const provider = create[protocol](transportTo(server.endpoint)).provider(settings)
  const subject = { provider, model: settings.model, declaresTools: null }
  const { probe } = await probeModel(subject, new AbortController().signal)
  expect(probe?.rung).toBe(rung)
  expect(server.chats.length).toBeGreaterThan(0)
})
