import { describe, expect, test } from "bun:test"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { jsonOf, storedText } from "../../../src/store/log/recorded-values.ts"
import { codeOf, noArtifacts } from "../support/store-fixture.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

function shelf(...texts: readonly string[]) {
  const held = new Map(texts.map(text => [`sha256:${sha256Hex(text)}`, bytes(text)]))
  return { ...noArtifacts, get: (ref: string) => held.get(ref) ?? null }
}

const named = (text: string) =>
  ({ kind: "artifact", ref: `sha256:${sha256Hex(text)}`, bytes: bytes(text).length }) as const

describe("recorded text", () => {
  test("is read from the event or from its artifact, to the last mark", () => {
    expect(storedText({ kind: "inline", text: "short" }, shelf())).toBe("short")
    expect(storedText(named("\ufefflong ü"), shelf("\ufefflong ü"))).toBe("\ufefflong ü")
    expect(storedText({ kind: "omitted" }, shelf())).toBe("")
  })

  test("says so when its artifact is gone", () => {
    expect(storedText(named("x"), shelf())).toMatch(/^\[the stored output sha256:[0-9a-f]{64} is missing\]$/)
  })
})

describe("a recorded value", () => {
  test("is read from the event or from its artifact", () => {
    expect(jsonOf({ kind: "inline", value: { a: [1, null] } }, shelf())).toEqual({ a: [1, null] })
    expect(jsonOf(named('{"a":"ü"}'), shelf('{"a":"ü"}'))).toEqual({ a: "ü" })
  })

  test("says so when its artifact is gone", () => {
    expect(jsonOf(named("1"), shelf())).toMatch(/^\[the stored value sha256:[0-9a-f]{64} is missing\]$/)
  })

  test("that is not JSON is a failed integrity check, not a mistake of acode", () => {
    expect(codeOf(() => jsonOf(named('{"a":'), shelf('{"a":')))).toBe("ACODE-SEC-004")
  })
})
