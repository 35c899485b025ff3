import { describe, expect, test } from "bun:test"
import type { Json } from "../../src/base/canonical.ts"
import { findUnusable } from "../../src/provider/limits.ts"
import { nested } from "./provider-kit.ts"

describe("a foreign value", () => {
  test("of ordinary shape can be used", () => {
    for (const value of [null, 1, "x", [], {}, { a: [{ b: null }] }, nested(64)])
      expect(findUnusable(value)).toBeNull()
  })

  test("without a prototype can be used, as the YAML reader gives it", () => {
    const bare: { [key: string]: Json } = Object.create(null)
    bare["constructor"] = "x"
    expect(findUnusable(bare)).toBeNull()
  })

  test("nested too deep cannot, however deep it is", () => {
    for (const levels of [65, 100, 200_000])
      expect(findUnusable(nested(levels))?.message).toBe("is nested more than 64 levels deep")
  })

  test("with a __proto__ of its own cannot, wherever that stands", () => {
    expect(findUnusable(JSON.parse('{"a":[{"__proto__":{"x":1}}]}'))).toEqual({
      path: ["a", 0, "__proto__"],
      message: "is not a usable name",
    })
  })

  test("with a number that is too large to be one cannot", () => {
    expect(findUnusable(JSON.parse('{"a":[1,1e999]}'))).toEqual({
      path: ["a", 1],
      message: "is a number too large to be used",
    })
  })
})
