import { describe, expect, test } from "bun:test"
import { createUsage } from "../../../../src/provider/protocols/anthropic/reply.ts"

describe("what a reply takes", () => {
  test("counts what the server's cache was given and gave as input", () => {
    const told = {
      input_tokens: 10,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 3000,
      output_tokens: 1,
    }
    expect(createUsage().add(told)).toEqual([{ kind: "usage", input: 3210, output: 1 }])
  })

  test("is the latest word on each number", () => {
    const usage = createUsage()
    usage.add({ input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 })
    expect(usage.add({ output_tokens: 40 })).toEqual([{ kind: "usage", input: 15, output: 40 }])
    expect(usage.add({ input_tokens: 20, output_tokens: 50 })).toEqual([
      { kind: "usage", input: 25, output: 50 },
    ])
  })

  test("is not reported by events without a number", () => {
    for (const told of [undefined, null, "many", {}, { output_tokens: null }, [1]])
      expect(createUsage().add(told)).toEqual([])
  })

  test.each([-1, 1.5, 1e300, "7", true, null])("passes over the absurd %p", odd => {
    const usage = createUsage()
    usage.add({ input_tokens: 10, output_tokens: 2 })
    expect(usage.add({ input_tokens: odd, output_tokens: 3 })).toEqual([
      { kind: "usage", input: 10, output: 3 },
    ])
  })
})
