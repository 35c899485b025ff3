import { describe, expect, test } from "bun:test"
import { createPatternStages, validatePattern } from "../../src/redaction/pattern-stage.ts"

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const redact = (patterns: string[], input: string) =>
  text(createPatternStages(patterns)().push(Buffer.from(input), true))

describe("which patterns can be used", () => {
  test.each([
    String.raw`(?i)(api[_-]?key|apikey)[\s:=]+['"]?[a-zA-Z0-9_-]{20,}['"]?`,
    String.raw`(?i)(secret|password|token)[\s:=]+['"]?[^\s'"]+['"]?`,
    "sk-[a-zA-Z0-9]{20,}",
    "ghp_[a-zA-Z0-9]{36}",
    "INTERNAL-[0-9]+",
    "(foo|bar){2}",
  ])("%s", pattern => {
    expect(validatePattern(pattern)).toBeNull()
  })

  test.each([
    ["", "empty"],
    ["a*", "empty"],
    ["(a|b?)", "empty"],
    ["^", "empty"],
    [String.raw`\b`, "empty"],
    ["(a*)*", "exponential"],
    ["(", 'missing ")"'],
    ["a".repeat(2000), "longer than"],
    ["((a{100}){100}){9}", "too large"],
  ])("%p cannot", (pattern, reason) => {
    expect(validatePattern(pattern)).toContain(reason)
  })
})

describe("replacing", () => {
  test("whole matches, as often as they occur", () => {
    expect(redact(["INT-[0-9]+"], "a INT-1 b INT-22\nINT-333")).toBe(
      "a [REDACTED:custom] b [REDACTED:custom]\n[REDACTED:custom]",
    )
  })

  test("by several patterns at once", () => {
    expect(redact(["foo", "ba+r"], "foo baaar qux")).toBe("[REDACTED:custom] [REDACTED:custom] qux")
  })

  test("never across a line end", () => {
    expect(redact([String.raw`foo\s*bar`], "foo\nbar")).toBe("foo\nbar")
    expect(redact([String.raw`foo\s+`], "foo \nbar")).toBe("[REDACTED:custom]\nbar")
  })

  test("never inside a marker", () => {
    expect(redact(["[A-Z]{4,}"], "[REDACTED:token] LOUD")).toBe("[REDACTED:token] [REDACTED:custom]")
    expect(redact(["token|x"], "[REDACTED:token]x")).toBe("[REDACTED:token][REDACTED:custom]")
  })

  test("bytes that are no UTF-8 survive beside a match", () => {
    const input = Buffer.from([0xff, 0x66, 0x6f, 0x6f, 0xfe])
    const redacted = createPatternStages(["foo"])().push(input, true)
    expect(Buffer.from(redacted).toString("latin1")).toBe("\xff[REDACTED:custom]\xfe")
  })

  test("nothing to replace gives the input itself", () => {
    const input = Buffer.from("nothing\nhere\n")
    expect(createPatternStages(["foo"])().push(input, true)).toBe(input)
  })
})

describe("in pieces", () => {
  test("an unfinished line waits, a finished one does not", () => {
    const stage = createPatternStages(["foo+bar"])()
    expect(text(stage.push(Buffer.from("one\ntwo fo"), false))).toBe("one\n")
    expect(text(stage.push(Buffer.from("oobar x\nthree"), false))).toBe("two [REDACTED:custom] x\n")
    expect(text(stage.push(Buffer.from(""), true))).toBe("three")
  })

  test("a line that never ends is given out piece by piece, the same for every chunking", () => {
    const input = `${"lorem INT-12345 ".repeat(3000)}${"x".repeat(20000)}INT-9\n`
    const create = createPatternStages(["INT-[0-9]+"])
    const whole = text(create().push(Buffer.from(input), true))
    expect(whole.match(/custom/g)).toHaveLength(3001)
    for (const size of [1000, 8191, 8192, 8193]) {
      const stage = create()
      let out = ""
      for (let at = 0; at < input.length; at += size)
        out += text(stage.push(Buffer.from(input.slice(at, at + size)), false))
      expect(out + text(stage.push(Buffer.from(""), true))).toBe(whole)
    }
  })
})

test("time stays in proportion on what makes other engines slow", () => {
  const redactLine = (length: number) =>
    redact([".*a.*b.*c.*d", "[a-z]+[0-9]+x", "(x|y)*z{3}w"], "ab".repeat(length / 2))
  expect(redactLine(200_000)).toBe("ab".repeat(100_000))
})
