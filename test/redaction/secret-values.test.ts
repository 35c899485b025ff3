import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { spellingsOf } from "../../src/redaction/found-values.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"

const secret = `p@ss/w+rd "1" \\ é&<x>`
const redactor = createRedactor({ secretValues: [secret], extraPatterns: [] })
const hidden = (text: string) => redactor.redactText(text)

describe("a known value is found", () => {
  const go = JSON.stringify(secret)
    .slice(1, -1)
    .replace(/[<>&]/g, unit => `\\u00${unit.charCodeAt(0).toString(16)}`)
  const python = JSON.stringify(secret).slice(1, -1).replace("é", "\\u00e9")
  test.each([
    ["as it is", secret],
    ["URL-encoded", encodeURIComponent(secret)],
    ["URL-encoded in lower case", encodeURIComponent(secret).replace(/%../g, code => code.toLowerCase())],
    ["as a form field", encodeURIComponent(secret).replaceAll("%20", "+")],
    ["in a path", encodeURI(secret)],
    ["in JSON", JSON.stringify(secret).slice(1, -1)],
    ["in JSON inside JSON", JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["in JSON written by Go", go],
    ["in JSON written by Python", python],
    ["in JSON with escaped slashes", JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/")],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64url", Buffer.from(secret).toString("base64url")],
  ])("%s", (_, spelling) => {
    expect(hidden(`<<${spelling}>>`)).toBe("<<[REDACTED:environment]>>")
  })

  test("in the base64 of a longer text, wherever it lies in it", () => {
    for (const before of ["", "a", "ab", "abc", "user:", "user1:"]) {
      const encoded = Buffer.from(`${before}${secret}tail`).toString("base64")
      const redacted = hidden(encoded)
      expect(redacted).toContain("[REDACTED:environment]")
      const left = redacted
        .split("[REDACTED:environment]")
        .map(part => Buffer.from(part, "base64").toString("latin1"))
      expect(left.join("")).not.toContain("w+rd")
    }
  })

  test("trimmed, when it was read from a file with its line end", () => {
    const trimmed = createRedactor({ secretValues: ["abcd-efgh-1\n"], extraPatterns: [] })
    expect(trimmed.redactText("x abcd-efgh-1 y")).toBe("x [REDACTED:environment] y")
  })

  test("inside a word, because it is known", () => {
    expect(createRedactor({ secretValues: ["zq81xw72"], extraPatterns: [] }).redactText("azq81xw72b")).toBe(
      "a[REDACTED:environment]b",
    )
  })

  test("over several lines", () => {
    const several = createRedactor({ secretValues: ["first line\nsecond line"], extraPatterns: [] })
    expect(several.redactText("x\nfirst line\nsecond line\ny")).toBe("x\n[REDACTED:environment]\ny")
  })
})

describe("a value is left alone", () => {
  test("when it is shorter than eight characters", () => {
    expect(spellingsOf(["short12", "1234567"])).toEqual([])
  })

  test("when it is part of a marker, which would be redacted again and again", () => {
    expect(
      spellingsOf(["REDACTED", "environment", "password"]).filter(text => !/^[\w+/=-]+$/.test(text)),
    ).toEqual([])
    const redacted = createRedactor({ secretValues: ["password"], extraPatterns: [] }).redactText(
      "PASSWORD=hunter22",
    )
    expect(redacted).toBe("PASSWORD=[REDACTED:password]")
  })
})

test("a lone surrogate in a value is no reason to fail", () => {
  expect(spellingsOf(["abcdefgh\ud800"]).length).toBeGreaterThan(0)
})

test("no spelling can overlap the marker that replaces it", () => {
  const value = fc.string({
    unit: fc.constantFrom("[", "]", "R", "E", ":", "t", "1", "k", "-"),
    minLength: 8,
    maxLength: 14,
  })
  fc.assert(
    fc.property(
      value,
      fc.array(fc.constantFrom("[", "]", "[REDACTED:token]", "x"), { maxLength: 4 }),
      (known, around) => {
        const one = createRedactor({ secretValues: [known], extraPatterns: [] })
        const once = one.redactText(around.join(known))
        expect(one.redactText(once)).toBe(once)
      },
    ),
    { numRuns: 300 },
  )
})
