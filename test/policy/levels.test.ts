import { expect, test } from "bun:test"
import { pathKinds } from "../../src/policy/decision.ts"
import { shippedDefaults } from "../support/plan/shipped-decisions.ts"

test("reads and new directories need nobody, writes a scope, deletions a warning", () => {
  const levels = Object.entries(pathKinds).map(
    ([kind, { category, level }]) => `${kind} ${category} ${level}`,
  )
  expect(levels).toEqual([
    "read FILE_READ 1",
    "list FILE_READ 1",
    "createDirectory DIRECTORY_CREATE 1",
    "write FILE_WRITE 2",
    "delete FILE_DELETE 3",
  ])
})

test("a new directory is a write to what is protected", () => {
  expect(pathKinds.createDirectory.operation).toBe("write")
})

test("without configuration only reading and new directories go without asking", () => {
  expect(shippedDefaults).toEqual({
    FILE_READ: "auto",
    FILE_WRITE: "prompt",
    FILE_DELETE: "prompt",
    DIRECTORY_CREATE: "auto",
    TERMINAL_COMMAND: "prompt",
    EXTERNAL_REQUEST: "prompt",
  })
})
