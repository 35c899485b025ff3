import { expect, test } from "bun:test"
import { rungs } from "../../../src/domain/model-choice.ts"
import { stages as stageNames } from "../../../src/domain/stage.ts"
import { withRung } from "../../../src/provider/ladder/ladder.ts"
import { stages, stateOf, viewOf } from "../../engine/stages/support.ts"
import { itemsOf, never, requestOf, stop } from "../provider-kit.ts"
import { listening, systemText } from "./ladder-kit.ts"

/** Four characters a token, which is how everybody guesses. */
function tokens(value: unknown): number {
  return Math.ceil((typeof value === "string" ? value : JSON.stringify(value)).length / 4)
}

const cases = rungs.flatMap(rung => stageNames.map(stage => [rung, stage] as const))

test.each(cases)(
  "on the rung %s the system prompt, tools and format of the %s are under 3,000 tokens",
  async (rung, stage) => {
    const { messages, offered, format } = stages[stage]
    const view = viewOf(stateOf())
    const provider = listening([stop])
    const request = requestOf({
      stage,
      messages: messages(view),
      tools: offered(view),
      format: format(view),
    })
    await itemsOf(withRung(provider, rung).ask(request, never))
    const [asked] = provider.asked
    const spent = tokens(systemText(asked?.messages)) + tokens(asked?.tools) + tokens(asked?.format)
    expect(spent).toBeGreaterThan(100)
    expect(spent).toBeLessThan(3_000)
  },
)

test("the tools of the executor cost less as text than as schemas", async () => {
  const { messages, offered } = stages.executor
  const view = viewOf(stateOf())
  const request = requestOf({ stage: "executor", messages: messages(view), tools: offered(view) })
  const provider = listening([stop])
  await itemsOf(withRung(provider, "text").ask(request, never))
  const told = tokens(systemText(provider.asked[0]?.messages)) - tokens(systemText(request.messages))
  expect(told).toBeLessThan(tokens(request.tools))
  for (const { name } of request.tools)
    expect(systemText(provider.asked[0]?.messages)).toContain(`\n- ${name} {`)
})
