import { expect, test } from "bun:test"
import { ProcessIdentity } from "../../src/domain/process-identity.ts"

const owner = { bootId: "b", pid: 4, startTicks: "12345678901234567890" }

test("a process is known by boot, number and start, and the start may be larger than a number holds", () => {
  expect(ProcessIdentity().safeParse(owner).success).toBe(true)
  expect(ProcessIdentity().safeParse({ ...owner, pid: 0 }).success).toBe(false)
  expect(ProcessIdentity().safeParse({ ...owner, startTicks: 5 }).success).toBe(false)
})
