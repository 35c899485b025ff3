import { describe, expect, test } from "bun:test"
import { assert, errnoOf, messageOf, unreachable } from "../../src/base/assert.ts"

describe("a fact the code relies on", () => {
  test("passes silently when it holds", () => {
    expect(() => assert(1 + 1 === 2, "arithmetic")).not.toThrow()
  })

  test("throws with its sentence when it does not", () => {
    expect(() => assert(null, "there is a key")).toThrow("assertion failed: there is a key")
    expect(() => assert("", "text is not empty")).toThrow("assertion failed: text is not empty")
  })

  test("narrows the type for what follows", () => {
    const value: string | null = "x" as string | null
    assert(value !== null, "it is a string")
    expect(value.length).toBe(1)
  })

  test("a case nobody thought of names the value", () => {
    expect(() => unreachable({ kind: "new" } as never)).toThrow('unreachable: {"kind":"new"}')
  })
})

describe("what was thrown", () => {
  test("gives its message, whatever it is", () => {
    expect(messageOf(new Error("broken"))).toBe("broken")
    expect(messageOf("just text")).toBe("just text")
    expect(messageOf(undefined)).toBe("undefined")
    expect(messageOf({ toString: () => "an object" })).toBe("an object")
  })

  test("gives the code of a system error and of nothing else", () => {
    expect(errnoOf(Object.assign(new Error("no"), { code: "ENOENT" }))).toBe("ENOENT")
    expect(errnoOf(new Error("no"))).toBeNull()
    expect(errnoOf({ code: 5 })).toBeNull()
    expect(errnoOf(null)).toBeNull()
    expect(errnoOf("ENOENT")).toBeNull()
  })
})
