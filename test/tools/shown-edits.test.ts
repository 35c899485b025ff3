import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { editShown } from "../../src/tools/modified-files.ts"
import { shownText } from "../../src/tools/shown-text.ts"
import { seeded } from "../workspace/support.ts"
import { failureOf, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom({ extraPatterns: ["CASE-\\d{4,8}"] })
})
afterEach(() => t[Symbol.dispose]())

const edited = (raw: string, ...edits: readonly (readonly [string, string])[]) =>
  editShown(
    t.room,
    "f.txt",
    { raw, shown: shownText(raw, t.room.redactor) },
    edits.map(([search, replace]) => ({ search, replace })),
  ).text

const a = 'password = "alpha1111"'
const b = 'password = "beta2222"'
const c = 'password = "gamma3333"'
const marked = 'password = "[REDACTED:password]"'

describe("edits of a text with lines that look alike", () => {
  const file = `one:\n${a}\ntwo:\n${b}\nthree:\n${c}\n`

  test("remove a part in the middle, and nobody else's secret", () => {
    expect(edited(file, [`two:\n${marked}\n`, ""])).toBe(`one:\n${a}\nthree:\n${c}\n`)
    expect(edited(file, [`one:\n${marked}\n`, ""])).toBe(`two:\n${b}\nthree:\n${c}\n`)
    expect(edited(file, [`\nthree:\n${marked}`, ""])).toBe(`one:\n${a}\ntwo:\n${b}\n`)
  })

  test("rename what stands beside them, several at once", () => {
    const renamed = edited(
      file,
      [`two:\n${marked}`, `zwei:\n${marked}`],
      ["three:", "drei:"],
      ["one", "eins"],
    )
    expect(renamed).toBe(`eins:\n${a}\nzwei:\n${b}\ndrei:\n${c}\n`)
  })

  test("may begin and end within lines that carry no marker", () => {
    expect(edited(file, [`wo:\n${marked}\nth`, `WO:\n${marked}\nTH`])).toBe(
      `one:\n${a}\ntWO:\n${b}\nTHree:\n${c}\n`,
    )
  })

  test("swap two parts they name both of", () => {
    const swapped = edited(`one:\n${a}\ntwo:\n${b}\n`, [
      `one:\n${marked}\ntwo:\n${marked}\n`,
      `two:\n${marked}\none:\n${marked}\n`,
    ])
    expect(swapped).toBe(`two:\n${b}\none:\n${a}\n`)
  })

  test("may copy a line from elsewhere when it is clear which", () => {
    expect(edited(`x\n${a}\ny\n`, ["y", `y\n${marked}`])).toBe(`x\n${a}\ny\n${a}\n`)
  })

  test("are refused where it is not", async () => {
    expect((await failureOf(() => edited(file, ["one:", `one:\n${marked}`])))?.code).toBe("ACODE-SEC-007")
    expect((await failureOf(() => edited(file, [`two:\n${marked}`, `two:\n${marked} # x`])))?.where).toBe(
      "f.txt:4",
    )
  })
})

describe("edges", () => {
  test("the first and the last line, with and without a newline", () => {
    expect(edited(`${a}\nx`, [`${marked}\nx`, `${marked}\ny`])).toBe(`${a}\ny`)
    expect(edited(`x\n${a}`, [`x\n${marked}`, `y\n${marked}`])).toBe(`y\n${a}`)
    expect(edited(`${a}`, [marked, `${marked}\nmore`])).toBe(`${a}\nmore`)
    expect(edited(`${a}\n`, [`${marked}\n`, ""])).toBe("")
    expect(edited(`\n${a}\nx\n`, ["\nx\n", "\ny\n"])).toBe(`\n${a}\ny\n`)
  })

  test("carriage returns and keys of many lines stay", () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\r\n".repeat(4)
    const key = `-----BEGIN PRIVATE KEY-----\r\n${body}-----END PRIVATE KEY-----`
    const file = `a\r\n${key}\r\nb\r\n${a}\r\nc\r\n`
    expect(edited(file, ["b\n", "B\n"])).toBe(`a\r\n${key}\r\nB\r\n${a}\r\nc\r\n`)
    expect(edited(file, ["[REDACTED:private-key]\nb", "[REDACTED:private-key]\nB"])).toBe(
      `a\r\n${key}\r\nB\r\n${a}\r\nc\r\n`,
    )
    expect(edited(file, ["[REDACTED:private-key]\r\n", ""])).toBe(`a\r\nb\r\n${a}\r\nc\r\n`)
  })

  test("a person's own patterns are put back as well", () => {
    const file = "x CASE-12345 y\nplain\nz CASE-99999\n"
    expect(edited(file, ["plain\nz", "PLAIN\nz"])).toBe(file.replace("plain", "PLAIN"))
  })

  test("a character that was meant to be nowhere may be in the text", () => {
    expect(edited(`\ue000\ue001\n${a}\nx\n`, ["x", "y"])).toBe(`\ue000\ue001\n${a}\ny\n`)
  })
})

test("an edit of any plain line changes that line and nothing else, whatever is around it", () => {
  const below = seeded(31)
  const pool = [a, b, c, "", "same", "  same", "CASE-77777 x", `${a} ${b}`]
  for (let round = 0; round < 300; round++) {
    const lines = Array.from({ length: 2 + below(12) }, () => pool[below(pool.length)] ?? "")
    const place = below(lines.length + 1)
    lines.splice(place, 0, "the only one")
    const end = round % 3 === 0 ? "\r\n" : "\n"
    const raw = lines.join(end) + (round % 2 === 0 ? end : "")
    const expected = raw.replace("the only one", "another one")
    expect(edited(raw, ["the only one", "another one"])).toBe(expected)
    const shown = shownText(raw, t.room.redactor).lines.map(line => line.shown)
    const near = shown.slice(Math.max(0, place - 2), place + 2).join("\n")
    expect(edited(raw, [near, near.replace("the only one", "another one")])).toBe(expected)
  }
})
