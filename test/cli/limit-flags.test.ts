import { describe, expect, test } from "bun:test"
import { checkLimitFlags } from "../../src/cli/limit-flags.ts"
import { Failure } from "../../src/domain/failure.ts"

const none = { timeout: undefined, memory: undefined, "max-output": undefined }

function refused(given: Partial<Record<keyof typeof none, number>>): string | null {
  try {
    checkLimitFlags({ ...none, ...given })
    return null
  } catch (error) {
    if (error instanceof Failure) return error.report.message.replace("the command is not valid: ", "")
    throw error
  }
}

describe("limits on the command line", () => {
  test.each([
    [{}, null],
    [{ timeout: 0.001, memory: 4, "max-output": 1 }, null],
    [{ timeout: 604_800, memory: 1_048_576, "max-output": 268_435_456 }, null],
    [{ timeout: 0 }, "--timeout is 0, it must lie between 0.001 and 604800 seconds"],
    [{ timeout: -3 }, "--timeout is -3, it must lie between 0.001 and 604800 seconds"],
    [{ memory: 1 }, "--memory is 1, it must lie between 4 and 1048576 MB"],
    [{ "max-output": 0 }, "--max-output is 0, it must lie between 1 and 268435456 bytes"],
    [{ "max-output": 1.5 }, "--max-output is 1.5, it must be a whole number of bytes"],
  ])("%j", (given, message) => {
    expect(refused(given)).toBe(message)
  })

  test("everything that is wrong is told at once", () => {
    expect(refused({ timeout: 0, memory: 0 })).toMatch(/^--timeout .* seconds; --memory .* MB$/)
  })
})
