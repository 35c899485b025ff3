import { describe, expect, test } from "bun:test"
import { countOf } from "../../src/cli/evidence-range.ts"
import { codeOf } from "../store/support/store-fixture.ts"

describe("a count", () => {
  test("is a whole number from one", () => {
    expect(countOf("--limit", 1)).toBe(1)
    expect(countOf("--limit", 100_000)).toBe(100_000)
  })

  test.each([0, -1, 1.5, 1e300])("is not %d", typed => {
    expect(codeOf(() => countOf("--limit", typed))).toBe("ACODE-CLI-002")
  })
})
