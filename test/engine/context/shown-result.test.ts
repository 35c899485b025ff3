import { describe, expect, test } from "bun:test"
import { resultTokensIn, shownResult } from "../../../src/engine/context/shown-result.ts"
import { textTokens } from "../../../src/engine/context/token-estimate.ts"
import { boundedView } from "../../../src/tools/tool-result.ts"
import { callOf } from "../stages/support.ts"

describe("how much of one result a model sees", () => {
  test("is 10,000 tokens, and never more than a quarter of the window", () => {
    expect([null, 128_000, 32_768, 8_192].map(resultTokensIn)).toEqual([10_000, 10_000, 8_192, 2_048])
  })

  test("is all of it when it is short, or its outcome when it says nothing", () => {
    expect(shownResult(callOf("1", "glob", "a.ts"), 100)).toBe("a.ts")
    expect(shownResult(callOf("1", "glob", ""), 100)).toBe("succeeded")
    expect(shownResult(callOf("1", "glob", null), 100)).toBe("no result")
  })
})

describe("a file that is too long", () => {
  const content = Array.from({ length: 5_000 }, (_, at) => `line ${at + 1} of the file`).join("\n")
  const read = (text: string, args = {}) => shownResult(callOf("1", "read_file", text, args), 2_048)
  const nextLine = (shown: string) => Number(/with from_line (\d+) and/.exec(shown)?.[1])

  test("is shown from its beginning, and how to go on behind it is exact", () => {
    const text = `a.txt (5000 lines):\n${content}`
    const shown = read(text)
    const next = nextLine(shown)
    expect(shown).toContain(`\nline ${next - 1} of the file\n[`)
    expect(shown).not.toContain(`line ${next} of the file`)
    expect(shown).toContain(`[${text.length - shown.lastIndexOf("[")} more characters are left out`)
    expect(textTokens(shown)).toBeLessThanOrEqual(2_048)
  })

  test("goes on from where it was asked from", () => {
    const rest = content.split("\n").slice(999).join("\n")
    const shown = read(`a.txt (lines 1000-5000 of 5000):\n${rest}`, { path: "a.txt", from_line: 1000 })
    expect(shown).toContain(`\nline ${nextLine(shown) - 1} of the file\n[`)
  })

  test("whose middle the tool left out already is shown up to there", () => {
    const text = boundedView(`a.txt (5000 lines):\n${content}`, 9_000)
    const shown = read(text)
    expect(shown).not.toContain("line 5000")
    expect(shown).toContain(`\nline ${nextLine(shown) - 1} of the file\n[`)
  })
})

test("what a command wrote keeps both ends, because what failed stands last", () => {
  const text = `first\n${"noise\n".repeat(5_000)}last`
  const shown = shownResult(callOf("1", "run_command", text), 500)
  expect(shown).toStartWith("first\n")
  expect(shown).toContain("last\n[to see what is not shown, call run_command")
  expect(shown).toMatch(/\[… \d+ of 30010 bytes are not shown …\]/)
  expect(textTokens(shown)).toBeLessThanOrEqual(500)
})
