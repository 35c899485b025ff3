import { describe, expect, test } from "bun:test"
import { isInteractive } from "../../../src/cli/terminal/terminal.ts"

/** Somebody sits there; a test names what is different. */
function someone(
  change: { ci?: boolean; nonInteractive?: boolean; flag?: boolean; stdin?: boolean; stderr?: boolean } = {},
) {
  const { ci = false, nonInteractive = false, flag = false, stdin = true, stderr = true } = change
  return {
    terminal: { stdin, stdout: false, stderr },
    environment: { ci, nonInteractive },
    globals: { "non-interactive": flag },
  }
}

describe("somebody can be asked", () => {
  test("where standard input and error are a terminal; the output may be piped", () => {
    expect(isInteractive(someone())).toBe(true)
  })

  test.each([{ stdin: false }, { stderr: false }, { ci: true }, { nonInteractive: true }, { flag: true }])(
    "not with %j",
    change => {
      expect(isInteractive(someone(change))).toBe(false)
    },
  )
})
