import { describe, expect, test } from "bun:test"
import { jsonAnswer } from "../../../src/engine/stages/json-answer.ts"

describe("the JSON in an answer", () => {
  test.each([
    ["all of the text", ' {"a": 1}\n', '{"a": 1}'],
    ["the only fenced block", 'Here:\n```json\n{"a": "}"}\n```\nDone.', '{"a": "}"}'],
    ["a block without a language", '```\n{"a": 1}\n```', '{"a": 1}'],
    ["the first balanced object", 'I say {"a": {"b": "\\"}"}} and more', '{"a": {"b": "\\"}"}}'],
    ["the first of two objects", '{"a": 1} {"b": 2}', '{"a": 1}'],
    ["what follows a model's thoughts", '<think>maybe {"x": 1}</think>\n{"a": 1}', '{"a": 1}'],
    ["one with a fence inside a string", '{"a": "```\\ncode\\n```"}', '{"a": "```\\ncode\\n```"}'],
    ["the first object of two blocks", '```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', '{"a": 1}'],
  ])("is %s", (_what, text, json) => {
    expect(jsonAnswer(text)).toEqual({ json })
  })

  test.each([
    ["nothing", "  \n", "the answer is empty; answer with one JSON object"],
    ["prose", "I cannot do that.", "there is no JSON object in the answer; answer with one and nothing else"],
    ["a cut answer", '{"a": [1, 2', "the JSON object in the answer is not closed; was it cut off?"],
    ["a brace in an open string", '{"a": "}', "the JSON object in the answer is not closed; was it cut off?"],
  ])("is missing from %s, which is said", (_what, text, problem) => {
    expect(jsonAnswer(text)).toEqual({ problem })
  })

  test("is found in a hundred thousand braces without taking for ever", () => {
    expect(jsonAnswer("{".repeat(100_000))).toEqual({
      problem: "the JSON object in the answer is not closed; was it cut off?",
    })
  })
})
