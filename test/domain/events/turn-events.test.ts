import { describe, expect, test } from "bun:test"
import { ContextTrimmed, ModelRequested, TurnFinished } from "../../../src/domain/events/turn-events.ts"
import { shortenedParts } from "../../../src/domain/model-choice.ts"
import * as made from "../../support/pipeline/pipeline-events.ts"

const asked = {
  stage: "executor",
  stepId: "s1",
  turn: 1,
  replyIndex: 3,
  messageCount: 2,
  requestDigest: "sha256:0",
  estimatedTokens: 900,
  model: "qwen3:8b",
  endpoint: "http://127.0.0.1:11434",
}
const trimmed = {
  stage: "executor",
  stepId: "s1",
  turn: 1,
  tokensBefore: 9_000,
  tokensAfter: 4_000,
  tokensMax: 4_096,
  shortenedCount: 2,
  shortened: [...shortenedParts],
}
const leftOut = { part: "longInstructions", name: "AGENTS.md", tokens: 900 }
const reply = made.replied({ calls: [made.wanted("c1", "glob", { pattern: "*" })], answer: { a: 1 } })

describe("an event of a turn", () => {
  test.each([
    ["a request", ModelRequested, asked],
    ["a request to a script", ModelRequested, { ...asked, model: null, endpoint: null }],
    ["a context that was trimmed", ContextTrimmed, trimmed],
    ["old results, left out without any limit", ContextTrimmed, { ...trimmed, tokensMax: null }],
    ["what reading left out", ContextTrimmed, { ...trimmed, leftOut: [leftOut] }],
    ["a reply", TurnFinished, reply.data],
  ])("has the declared shape: %s", (_, definition, data) => {
    expect(definition.data.safeParse(JSON.parse(JSON.stringify(data))).success).toBe(true)
  })

  test.each([
    ["a request that does not say where it goes", ModelRequested, { ...asked, endpoint: undefined }],
    ["a request of a stage there is not", ModelRequested, { ...asked, stage: "tester" }],
    ["a part that cannot be shortened", ContextTrimmed, { ...trimmed, shortened: ["request"] }],
    ["a part that is read whole", ContextTrimmed, { ...trimmed, leftOut: [{ ...leftOut, part: "request" }] }],
    ["a reply with less than nothing used", TurnFinished, { ...reply.data, usage: { input: -1, output: 0 } }],
  ])("is refused: %s", (_, definition, data) => {
    expect(definition.data.safeParse(JSON.parse(JSON.stringify(data))).success).toBe(false)
  })
})
