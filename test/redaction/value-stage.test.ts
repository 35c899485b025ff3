import { describe, expect, test } from "bun:test"
import { createValueStages, spellingsAs, valueSetOf } from "../../src/redaction/value-stage.ts"

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")
const bytes = (value: string) => Buffer.from(value, "latin1")

describe("replacing known values", () => {
  const create = createValueStages(
    valueSetOf(spellingsAs("environment", ["abcdefgh", "abcdefghij", "12345678"])),
  )

  test("the longest spelling at a place wins", () => {
    expect(text(create().push(bytes("abcdefghij abcdefghi"), true))).toBe(
      "[REDACTED:environment] [REDACTED:environment]i",
    )
  })

  test("values that touch are each replaced", () => {
    expect(text(create().push(bytes("1234567812345678"), true))).toBe(
      "[REDACTED:environment][REDACTED:environment]",
    )
  })

  test("input without any of them is given back as it is, not as a copy", () => {
    const input = bytes("nothing to see")
    expect(create().push(input, true)).toBe(input)
  })

  test("only what may be the beginning of a value is held back", () => {
    const stage = create()
    expect(text(stage.push(bytes("plain text "), false))).toBe("plain text ")
    expect(text(stage.push(bytes("x abcd"), false))).toBe("x ")
    expect(text(stage.push(bytes("efg"), false))).toBe("")
    expect(text(stage.push(bytes("z"), false))).toBe("abcdefgz")
    expect(text(stage.push(bytes("!"), true))).toBe("!")
  })

  test("a complete value waits when it may be the beginning of a longer one", () => {
    const stage = create()
    expect(text(stage.push(bytes("abcdefgh"), false))).toBe("")
    expect(text(stage.push(bytes("ij."), false))).toBe("[REDACTED:environment].")
  })

  test("what is held back at the end comes out", () => {
    const stage = create()
    expect(text(stage.push(bytes("abcdefg"), false))).toBe("")
    expect(text(stage.push(bytes(""), true))).toBe("abcdefg")
  })

  test("what is held back is a copy: the caller may reuse its buffer", () => {
    const stage = create()
    const buffer = bytes("abcd")
    stage.push(buffer, false)
    buffer.fill(0)
    expect(text(stage.push(bytes("efgh!"), true))).toBe("[REDACTED:environment]!")
  })
})

test("every chunking gives the same", () => {
  const create = createValueStages(
    valueSetOf(spellingsAs("environment", ["aabaabaab", "baabaabaa", "abababab"])),
  )
  const input = "aabaabaabaabababababbaabaabaabaabab"
  const whole = text(create().push(bytes(input), true))
  for (let first = 0; first <= input.length; first++)
    for (let second = first; second <= input.length; second += 3) {
      const stage = create()
      const pieces = [input.slice(0, first), input.slice(first, second)].map(piece =>
        text(stage.push(bytes(piece), false)),
      )
      expect(pieces.join("") + text(stage.push(bytes(input.slice(second)), true))).toBe(whole)
    }
})
