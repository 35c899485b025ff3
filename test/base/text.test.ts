import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  exactCommand,
  exactLine,
  exactLines,
  exactText,
  firstLine,
  nearest,
  oneLine,
  printable,
  shellQuoted,
} from "../../src/base/text.ts"
import { shownArguments } from "../support/terminal/shown-question.ts"

describe("foreign text made safe to print", () => {
  test("shows escapes, bells and title changes instead of obeying them", () => {
    expect(printable("\u001b]0;title\u0007\u001b[31mred\u001b[0m")).toBe(
      "\\x1b]0;title\\x07\\x1b[31mred\\x1b[0m",
    )
    expect(printable("a\rb\bc\u007f\u009bd")).toBe("a\\x0db\\x08c\\x7f\\x9bd")
  })

  test("shows what is invisible or turns the reading order around", () => {
    expect(printable("user\u202etxt.exe")).toBe("user\\u202etxt.exe")
    expect(printable("a\u200bb\ufeffc\u2066d\u061ce\u2028f")).toBe(
      "a\\u200bb\\ufeffc\\u2066d\\u061ce\\u2028f",
    )
    expect(printable("tag\u{e0041}")).toBe("tag\\u{e0041}")
  })

  test("leaves letters of every script, emoji, tabs and line breaks as they are", () => {
    const text = "déjà\tvu\nпривет 日本語 \u{1f600} עברית"
    expect(printable(text)).toBe(text)
  })

  test("changes nothing when it is done twice, and leaves no control character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), text => {
        const safe = printable(text)
        expect(printable(safe)).toBe(safe)
        expect(/[\p{Cc}]/u.test(safe.replace(/[\t\n]/g, ""))).toBe(false)
      }),
    )
  })
})

describe("one line for a listing", () => {
  test("makes line breaks visible and tabs narrow", () => {
    expect(oneLine("a\nb\tc\r\n\n  d", 80)).toBe("a ⏎ b c ⏎ d")
  })

  test("is cut with an ellipsis and never longer than asked", () => {
    expect(oneLine("abcdef", 6)).toBe("abcdef")
    expect(oneLine("abcdefg", 6)).toBe("abcde…")
    expect(oneLine("abc", 0)).toBe("…")
  })

  test("of many lines may be the first, which shows that there are more", () => {
    expect([firstLine("a", 9), firstLine("\na\n", 9), firstLine("a\nb", 9)]).toEqual(["a", "a", "a …"])
    expect(firstLine("abcdef\ng", 4)).toBe("abc…")
  })

  test("is not cut through a character", () => {
    expect(oneLine("ab\u{1f600}cd", 4)).toBe("ab…")
    expect(oneLine("ab\u{1f600}cd", 5)).toBe("ab\u{1f600}…")
  })
})

describe("an argument as a person would type it", () => {
  test("stands bare where a shell would leave it alone", () => {
    expect(["npm", "--flag=a/b:c", "x@1.2", "50%"].map(shellQuoted)).toEqual([
      "npm",
      "--flag=a/b:c",
      "x@1.2",
      "50%",
    ])
  })

  test("is quoted where a shell would not", () => {
    expect(["", "a b", "$HOME", "it's", "*"].map(shellQuoted)).toEqual([
      "''",
      "'a b'",
      "'$HOME'",
      "'it'\\''s'",
      "'*'",
    ])
  })

  test("means the same argument to a real shell", () => {
    const argument = fc
      .string({ unit: "binary", maxLength: 20 })
      .map(text => text.replaceAll("\0", "").toWellFormed())
    const lists = fc.sample(fc.array(argument, { minLength: 1, maxLength: 5 }), 100)
    const script = lists.map(list => `printf '%s\\0' ${list.map(shellQuoted).join(" ")}`).join("\n")
    const { stdout, exitCode } = Bun.spawnSync(["/bin/sh"], { stdin: Buffer.from(script) })
    expect(exitCode).toBe(0)
    expect(stdout.toString().split("\0").slice(0, -1)).toEqual(lists.flat())
  })
})

describe("what was meant by a mistyped word", () => {
  const flags = ["--timeout", "--sandbox", "--shell", "--json"]

  test("is the closest candidate", () => {
    expect(nearest("--timuot", flags)).toBe("--timeout")
    expect(nearest("--jsno", flags)).toBe("--json")
    expect(nearest("--shell", flags)).toBe("--shell")
  })

  test("is nothing when nothing is close", () => {
    expect(nearest("--frobnicate", flags)).toBeNull()
    expect(nearest("x", flags)).toBeNull()
    expect(nearest("anything", [])).toBeNull()
  })
})

describe("exact text", () => {
  const withoutSigns = (line: string) => line.replaceAll("⇥", "\t").replaceAll("␍", "\r")
  const readLine = (line: string) => (line.startsWith("| ") ? withoutSigns(line.slice(2)) : JSON.parse(line))
  const anything = fc.string({ unit: "binary", maxLength: 80 })

  test("is read back as exactly what it was, and holds nothing that cannot be seen", () => {
    fc.assert(
      fc.property(
        fc.oneof(anything, fc.constantFrom("\u202e", "\ufe0f", "\u3164", "\u00a0", "\u00ad", "\x7f\x9b")),
        text => {
          const shown = exactText(text)
          expect(JSON.parse(shown)).toBe(text)
          expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\u00a0\u3164]|\ufe0f/u)
        },
      ),
    )
  })

  test("of several lines gives back each line, whatever stands in it", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 200 }), lines => {
        const text = lines.join("\n")
        expect(exactLines(text).map(readLine).join("\n")).toBe(text)
      }),
    )
  })

  test("of one line is read back as well, tabs, blanks at its end and carriage returns included", () => {
    const parts = fc.constantFrom("a", "\t", " ", "\r", '"', "⇥", "␍", "\u0300", "\\t", "| ")
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), some => {
        const text = some.join("")
        const line = exactLine(text)
        expect(line.startsWith('"') ? JSON.parse(line) : withoutSigns(line)).toBe(text)
        expect(exactLines(text).map(readLine)).toEqual([text])
        expect(line).not.toMatch(/[\t\r]|\s$/)
      }),
    )
  })

  test("of a command gives back each argument, however many lines they have", () => {
    const argument = fc.oneof(
      anything,
      fc.array(anything, { maxLength: 5 }).map(lines => lines.join("\n")),
    )
    fc.assert(
      fc.property(fc.array(argument, { minLength: 1, maxLength: 12 }), argv => {
        expect(shownArguments([...exactCommand(argv), "in ."])).toEqual(argv)
      }),
    )
  })

  test("of a command is what a shell would run, where nothing in it is unseen", () => {
    const seen = fc.array(fc.stringMatching(/^[ -~]{1,20}$/), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(seen, argv => {
        const [line = ""] = exactCommand(["printf", "%s\\0", ...argv])
        const { stdout } = Bun.spawnSync(["sh", "-c", line])
        expect(stdout.toString().split("\0").slice(0, -1)).toEqual(argv)
      }),
      { numRuns: 30 },
    )
  })
})
