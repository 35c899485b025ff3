import { expect, test } from "bun:test"
import { isRedactedPath } from "../../../src/domain/text/redacted-json.ts"
import { createRedactor } from "../../../src/redaction/redactor.ts"

test("a path is known to be redacted whatever kind of secret was in it", () => {
  const redactor = createRedactor({ secretValues: ["hunter22"], extraPatterns: ["ticket-[0-9]+"] })
  const names = ["fixtures/ghp_abcdefghijklmnopqrstuvwxyz0123456789.json", "hunter22/a.txt", "ticket-17.md"]
  expect(names.map(isRedactedPath)).toEqual([false, false, false])
  expect(names.map(redactor.redactText).map(isRedactedPath)).toEqual([true, true, true])
})

test("a path with brackets in it is none", () => {
  expect(["[id].ts", "REDACTED:x", "[REDACTED:]", "[REDACTED].txt"].some(isRedactedPath)).toBe(false)
})
