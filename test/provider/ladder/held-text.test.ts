import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createHeldText } from "../../../src/provider/ladder/ladder.ts"

function shownOf(chunks: readonly string[], blockLine: string | null = null) {
  const held = createHeldText(blockLine)
  const shown = chunks.map(chunk => held.take(chunk))
  return { shown, ...held.rest() }
}

describe("text", () => {
  test("that cannot be a call is shown as it comes", () => {
    expect(shownOf(["All", " is", " done."])).toEqual({
      shown: ["All", " is", " done."],
      text: "",
      isHeld: false,
    })
  })

  test.each([
    "{",
    "[",
    "```json",
    "```tool",
    "```\n",
    "<tool_call>",
    "<function=",
    "<|python_tag|>",
    "[TOOL_CALLS]",
  ])("that begins with %j waits for the end", opening => {
    const text = `\n ${opening} and all the rest`
    expect(shownOf([...text])).toMatchObject({ text, isHeld: true })
  })

  test.each(["```ts\ncode", "<b>bold", "<|other", "`x`", "<functional"])(
    "that begins nearly like it, %j, is shown as soon as it is clear",
    text => {
      const { shown, isHeld, text: rest } = shownOf([...text])
      expect(isHeld).toBe(false)
      expect(shown.join("") + rest).toBe(text)
      expect(shown.join("").length).toBeGreaterThan(0)
    },
  )

  test("that only looked like the beginning of a call is not lost when it ends there", () => {
    expect(shownOf([" <tool"])).toEqual({ shown: [""], text: " <tool", isHeld: false })
  })

  test("with brackets further on is shown", () => {
    expect(shownOf(["Call ", '{"tool":"x"}']).shown.join("")).toBe('Call {"tool":"x"}')
  })
})

describe("thinking", () => {
  test("is shown, and what comes behind it may be a call", () => {
    const { shown, text, isHeld } = shownOf([..."<think>a {b}</think>\n{}"])
    expect(shown.join("")).toBe("<think>a {b}</think>")
    expect({ text, isHeld }).toEqual({ text: "\n{}", isHeld: true })
  })

  test("may begin without a mark, as templates that open it leave it", () => {
    const { shown, text } = shownOf(["Hm, {b}", ".</thi", 'nk>{"a":1}'])
    expect(shown.join("")).toBe("Hm, {b}.</think>")
    expect(text).toBe('{"a":1}')
  })

  test("holds no block, even where blocks are looked for", () => {
    const text = "<think>so\n```tool\n{}\n```\n</think>\nDone."
    const { shown, isHeld } = shownOf([...text], "```tool")
    expect(shown.join("")).toBe(text)
    expect(isHeld).toBe(false)
  })
})

describe("a block", () => {
  test("is held from its line on, and the text before it is shown", () => {
    const { shown, text, isHeld } = shownOf([..."I look.\n```tool\n{}\n```\nmore"], "```tool")
    expect(shown.join("")).toBe("I look.")
    expect({ text, isHeld }).toEqual({ text: "\n```tool\n{}\n```\nmore", isHeld: true })
  })

  test("of another language is shown", () => {
    const text = "So:\n```ts\nlet a\n```\nend"
    const { shown, isHeld } = shownOf([...text], "```tool")
    expect(shown.join("")).toBe(text)
    expect(isHeld).toBe(false)
  })

  test("is not looked for on other rungs", () => {
    expect(shownOf(["I look.\n```tool\n{}"])).toMatchObject({ isHeld: false, text: "" })
  })
})

test("nothing is lost or doubled, wherever the text is cut", () => {
  const part = fc.constantFrom(
    "{",
    "a",
    "\n",
    "```",
    "tool",
    "json",
    "<think>",
    "</think>",
    "<tool_call>",
    " ",
    "</",
  )
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      (parts, size, blocks) => {
        const text = parts.join("")
        const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
        const cut = shownOf(chunks, blocks ? "```tool" : null)
        const whole = shownOf([text], blocks ? "```tool" : null)
        expect(cut.shown.join("") + cut.text).toBe(text)
        expect([cut.isHeld, cut.isHeld ? cut.text : ""]).toEqual([
          whole.isHeld,
          whole.isHeld ? whole.text : "",
        ])
      },
    ),
  )
})

test("a text that never ends is let through, so that anyone who collects it sees how long it is", () => {
  const held = createHeldText(null)
  const chunk = "x".repeat(500_000)
  const shown = ["{", chunk, chunk, chunk, chunk, chunk].map(each => held.take(each).length)
  expect(shown.slice(0, 4)).toEqual([0, 0, 0, 0])
  expect(shown[4]).toBe(2_000_001)
  expect(shown[5]).toBe(500_000)
  expect(held.rest()).toEqual({ text: "", isHeld: false })
})
