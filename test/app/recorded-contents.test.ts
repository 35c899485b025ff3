import { describe, expect, test } from "bun:test"
import { contentsOf } from "../../src/app/recorded-contents.ts"
import type { ArtifactStore } from "../../src/store/contract.ts"
import { codeOf, noArtifacts } from "../store/support/store-fixture.ts"

const holding = (text: string): ArtifactStore => ({
  ...noArtifacts,
  get: ref => (ref === "sha256:1" ? new TextEncoder().encode(text) : null),
})
const named = (ref: string) => ({ kind: "artifact", ref, bytes: 1 }) as const

describe("what a fold asks for", () => {
  test("is read from the event or from its artifact, to the last mark", () => {
    const contents = contentsOf(holding('\ufeff["a"]'))
    expect(contents.text({ kind: "inline", text: "short" })).toBe("short")
    expect(contents.text({ kind: "omitted" })).toBe("")
    expect(contents.text(named("sha256:1"))).toBe('\ufeff["a"]')
    expect(contents.json({ kind: "inline", value: [1] })).toEqual([1])
    expect(contentsOf(holding('["a"]')).json(named("sha256:1"))).toEqual(["a"])
  })

  test("is a failed integrity check when it is gone or cannot be read", () => {
    const contents = contentsOf(holding('{"a":'))
    expect(codeOf(() => contents.text(named("sha256:2")))).toBe("ACODE-SEC-004")
    expect(codeOf(() => contents.json(named("sha256:2")))).toBe("ACODE-SEC-004")
    expect(codeOf(() => contents.json(named("sha256:1")))).toBe("ACODE-SEC-004")
  })
})
