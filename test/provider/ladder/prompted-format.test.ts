import { expect, test } from "bun:test"
import type { ModelItem, ModelRequest, Provider } from "../../../src/provider/contract.ts"
import { withPromptedFormat, withRung } from "../../../src/provider/ladder/ladder.ts"
import { failedItem } from "../../../src/provider/reply-fault.ts"
import { itemsOf, never, requestOf, stop, text } from "../provider-kit.ts"
import { systemText } from "./ladder-kit.ts"

const format = {
  name: "plan",
  schema: { type: "object", properties: { goal: { type: "string" } }, required: ["goal"] },
}
const shaped = requestOf({ format })
const refusal = failedItem("badRequest", "response_format.type must be text")
const answer: readonly ModelItem[] = [text('{"goal":"g"}'), stop]

/** A model that answers by what it is asked, and remembers that. */
function answering(items: (request: ModelRequest) => readonly ModelItem[]) {
  const asked: ModelRequest[] = []
  const provider: Provider = {
    name: "answering",
    async *ask(request) {
      asked.push(request)
      yield* items(request)
    },
  }
  return { asked, provider }
}

const unable = () => answering(({ format: wanted }) => (wanted === null ? answer : [refusal]))

test.each(["native", "constrained"] as const)(
  "on the rung %s a server that refuses a schema is asked for the same in words, and not again with it",
  async rung => {
    const { asked, provider } = unable()
    const model = withRung(provider, rung)
    expect(await itemsOf(model.ask(shaped, never))).toEqual([...answer])
    expect(asked.map(request => request.format)).toEqual([format, null])
    expect(systemText(asked[1]?.messages)).toContain("{goal: string}")
    expect(await itemsOf(model.ask(shaped, never))).toEqual([...answer])
    expect(asked.slice(2).map(request => request.format)).toEqual([null])
  },
)

test("a server that takes the schema is asked once, with the request as it is", async () => {
  const { asked, provider } = answering(() => answer)
  expect(await itemsOf(withPromptedFormat(provider).ask(shaped, never))).toEqual([...answer])
  expect(asked).toEqual([shaped])
  expect(asked[0]).toBe(shaped)
})

test("a request that is refused either way fails as it did first, and the schema is tried again", async () => {
  const { asked, provider } = answering(request => [
    failedItem("badRequest", request.format === null ? "no" : "too much memory"),
  ])
  const model = withPromptedFormat(provider)
  for (const count of [2, 4]) {
    expect(await itemsOf(model.ask(shaped, never))).toEqual([failedItem("badRequest", "too much memory")])
    expect(asked).toHaveLength(count)
  }
})

test("a failure of another kind is reported as it is, also of the second request", async () => {
  for (const kind of ["unavailable", "contextTooLong", "aborted"] as const) {
    const busy = answering(() => [failedItem(kind, "it is")])
    expect(await itemsOf(withPromptedFormat(busy.provider).ask(shaped, never))).toEqual([
      failedItem(kind, "it is"),
    ])
    expect(busy.asked).toHaveLength(1)
    const later = answering(request => (request.format === null ? [failedItem(kind, "it is")] : [refusal]))
    const model = withPromptedFormat(later.provider)
    for (const _ of [1, 2])
      expect(await itemsOf(model.ask(shaped, never))).toEqual([failedItem(kind, "it is")])
    expect(later.asked.map(request => request.format)).toEqual([format, null, format, null])
  }
})

test("a reply that has begun is not asked for again", async () => {
  const { asked, provider } = answering(() => [text("{"), refusal])
  expect(await itemsOf(withPromptedFormat(provider).ask(shaped, never))).toEqual([text("{"), refusal])
  expect(asked).toHaveLength(1)
})

test("a request without a format is none of its business", async () => {
  const { asked, provider } = answering(() => [refusal])
  expect(await itemsOf(withPromptedFormat(provider).ask(requestOf(), never))).toEqual([refusal])
  expect(asked).toHaveLength(1)
})
