import { describe, expect, test } from "bun:test"
import { anthropicModels, factsIn, listedModel } from "../../../../src/provider/protocols/anthropic/server.ts"

const listing = {
  data: [
    { type: "model", id: "claude-a", display_name: "Claude A", max_input_tokens: 1_000_000 },
    { type: "model", id: "claude-b", display_name: 7 },
    { type: "model", id: "" },
    { type: "model" },
    "claude-c",
  ],
  has_more: false,
}

describe("the list of models", () => {
  test("has what has a name", () => {
    expect(anthropicModels(listing)).toEqual([
      { name: "claude-a", details: "Claude A, 1000000 tokens", isLoaded: null },
      { name: "claude-b", details: "", isLoaded: null },
    ])
  })

  test("finds one by its name", () => {
    expect(listedModel(listing, "claude-a")).toMatchObject({ display_name: "Claude A" })
    expect(listedModel(listing, "claude-z")).toBeNull()
  })

  test("cannot be anything else", () => {
    for (const body of [null, [], {}, { data: {} }, "x"])
      expect(() => anthropicModels(body)).toThrow("the list of models is not a list")
  })

  test("is not read for ever", () => {
    const data = Array.from({ length: 5_000 }, (_, index) => ({ id: `m${index}` }))
    expect(anthropicModels({ data })).toHaveLength(1_000)
  })
})

describe("the facts about a model", () => {
  test("is the window that the server reports", () => {
    for (const name of ["claude-some-1", "qwen3"])
      expect(factsIn({ max_input_tokens: 1_000_000 }, name)).toMatchObject({
        trainedTokens: 1_000_000,
        loadedTokens: 1_000_000,
      })
  })

  const silent = [
    ...[null, {}, { max_input_tokens: null }, { max_input_tokens: 0 }, { max_input_tokens: -5 }],
  ]

  test("is the usual one where the server reports none", () => {
    for (const body of silent)
      expect(factsIn(body, "claude-some-1")).toEqual({
        trainedTokens: 200_000,
        loadedTokens: 200_000,
        declaresTools: true,
        parameters: null,
        digest: null,
      })
  })

  test("is nothing where the server only speaks the protocol and reports none", () => {
    for (const body of silent)
      for (const name of ["qwen3", "local-claude-like"])
        expect(factsIn(body, name)).toEqual({
          trainedTokens: null,
          loadedTokens: null,
          declaresTools: null,
          parameters: null,
          digest: null,
        })
  })
})
