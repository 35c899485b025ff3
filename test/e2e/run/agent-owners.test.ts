import { describe, expect } from "bun:test"
import { ownersViolations } from "../../support/agent/agent-owners.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"

const confinedTest = testWhere(missingSandbox)

describe("a session that several processes resume at once", () => {
  confinedTest(
    "is driven by one of them; the others exit 1, say who drives it and touch nothing",
    async () => {
      const found: string[] = []
      for (let round = 0; round < 5; round++) found.push(...(await ownersViolations(8)))
      expect(found).toEqual([])
    },
    180_000,
  )
})
