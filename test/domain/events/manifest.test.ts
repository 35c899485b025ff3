import { expect, test } from "bun:test"
import { manifest } from "../../../src/domain/events/manifest.ts"

test("the manifest has every event once, in the past tense and with a summary", () => {
  const names = manifest.definitions.map(({ type, version }) => `${type}@${version}`)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  for (const { type, summary } of manifest.definitions) {
    expect(type).toMatch(/(ed|undone)$/)
    expect(summary).toMatch(/^[A-Z].+\.$/)
  }
})
