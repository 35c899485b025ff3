import { describe, expect, test } from "bun:test"
import { jsonAnswer } from "../../../src/domain/text/json-answer.ts"

const twoObjects = "the answer contains 2 different JSON objects; answer with one and nothing else"

describe("the JSON in an answer", () => {
  test.each([
    ["all of the text", ' {"a": 1}\n', '{"a": 1}'],
    ["the only fenced block", 'Here:\n```json\n{"a": "}"}\n```\nDone.', '{"a": "}"}'],
    ["a block without a language", '```\n{"a": 1}\n```', '{"a": 1}'],
    ["the only balanced object", 'I say {"a": {"b": "\\"}"}} and more', '{"a": {"b": "\\"}"}}'],
    ["the only object that is one", 'With {x} and {} I mean {"a": 1}.', '{"a": 1}'],
    ["one that is said twice", '{"a": 1} Again: {"a": 1}', '{"a": 1}'],
    ["what follows a model's thoughts", '<think>maybe {"x": 1}</think>\n{"a": 1}', '{"a": 1}'],
    ["what follows them by another name", '<thinking>maybe {"x": 1}</thinking>\n{"a": 1}', '{"a": 1}'],
    ["what follows them without their beginning", 'maybe {"x": 1}? No.\n</think>\n{"a": 1}', '{"a": 1}'],
    ["one that has a mark of thoughts inside", '{"a": "</think>"}', '{"a": "</think>"}'],
    ["one with a fence inside a string", '{"a": "```\\ncode\\n```"}', '{"a": "```\\ncode\\n```"}'],
  ])("is %s", (_what, text, json) => {
    expect(jsonAnswer(text)).toEqual({ json })
  })

  test.each([
    ["nothing", "  \n", "the answer is empty; answer with one JSON object"],
    ["thoughts without an end", '<think>maybe {"a": 1}', "the answer is empty; answer with one JSON object"],
    ["two objects", '{"a": 1} {"b": 2}', twoObjects],
    ["two blocks", '```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', twoObjects],
    ["prose", "I cannot do that.", "the answer contains no JSON object; answer with one and nothing else"],
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
