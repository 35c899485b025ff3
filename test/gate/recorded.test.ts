import { describe, expect, test } from "bun:test"
import { canonicalJson } from "../../src/base/canonical.ts"
import { redactJson } from "../../src/domain/text/redacted-json.ts"
import { recordChanges, recordJson, recordText } from "../../src/gate/recorded.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import type { ArtifactStore } from "../../src/store/contract.ts"

const redactor = createRedactor({ secretValues: ["correct-horse"], extraPatterns: [] })

/** Redacts as the real one does: bytes as a whole, a value string by string. */
function keeping(): ArtifactStore & { readonly kept: string[] } {
  const kept: string[] = []
  return {
    kept,
    put: content => `sha256:${kept.push(new TextDecoder().decode(redactor.redactBytes(content)))}`,
    putJson: value => {
      const text = canonicalJson(redactJson(value, redactor))
      return { ref: `sha256:${kept.push(text)}`, bytes: text.length }
    },
    get: () => null,
  }
}

describe("what is recorded", () => {
  test("stands in the event while it is small, to the byte", () => {
    const artifacts = keeping()
    const fits = "x".repeat(16 * 1024 - 2)
    expect(recordJson(fits, artifacts)).toEqual({ kind: "inline", value: fits })
    expect(recordText(`${fits}xx`, artifacts)).toEqual({ kind: "inline", text: `${fits}xx` })
    expect(artifacts.kept).toEqual([])
  })

  test("is an artifact when it is larger, in the one spelling of the value", () => {
    const artifacts = keeping()
    const value = { b: "x".repeat(16 * 1024), a: 1 }
    const bytes = canonicalJson(value).length
    expect(recordJson(value, artifacts)).toEqual({ kind: "artifact", ref: "sha256:1", bytes })
    expect(artifacts.kept[0]?.startsWith('{"a":1,"b":"')).toBe(true)
    expect(recordText("é".repeat(9_000), artifacts)).toEqual({
      kind: "artifact",
      ref: "sha256:2",
      bytes: 18_000,
    })
  })

  test("stays the value it is, whatever a quote in it begins", () => {
    const artifacts = keeping()
    const value = ["const password='", "don't", "z".repeat(16 * 1024)]
    recordJson(redactJson(value, redactor), artifacts)
    const changes = Array.from({ length: 101 }, () => ({ path: "password='", before: null, after: "'" }))
    recordChanges(changes, artifacts)
    expect(artifacts.kept.map(text => JSON.parse(text))).toEqual([value, changes])
  })

  test("counts changes, which are an artifact from a hundred on", () => {
    const artifacts = keeping()
    const changes = Array.from({ length: 101 }, (_, index) => ({
      path: `${index}`,
      before: null,
      after: "1",
    }))
    expect(recordChanges(changes.slice(1), artifacts)).toEqual({ kind: "inline", value: changes.slice(1) })
    expect(recordChanges(changes, artifacts)).toMatchObject({ kind: "artifact", count: 101 })
    expect(JSON.parse(artifacts.kept[0] ?? "")).toEqual(changes)
  })
})
