import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createLiteralScanner, type Literal } from "../../src/redaction/literal-scanner.ts"

const exact = (...texts: string[]): Literal[] => texts.map(text => ({ text, ignoreCase: false }))
const anyCase = (...texts: string[]): Literal[] => texts.map(text => ({ text, ignoreCase: true }))
const bytes = (text: string) => Buffer.from(text, "latin1")

function positions(literals: readonly Literal[], text: string): number[] {
  const scanner = createLiteralScanner(literals)
  const found: number[] = []
  for (let at = scanner.find(bytes(text), 0); at >= 0; at = scanner.find(bytes(text), at + 1)) found.push(at)
  return found
}

describe("finding", () => {
  test("a literal is found at every alignment, also at the very beginning and end", () => {
    for (let before = 0; before < 9; before++)
      expect(positions(exact("abc"), `${"-".repeat(before)}abc`)).toEqual([before])
  })

  test("the earliest of several is found first, whichever pair gave it away", () => {
    expect(positions(exact("authorization", "tho", "xyz"), "..authorization..xyz")).toEqual([2, 4, 17])
    expect(positions(exact("aaaaaaazq", "aaa"), "aaaaaaazq")).toEqual([0, 1, 2, 3, 4])
  })

  test("overlapping occurrences are all found", () => {
    expect(positions(exact("sk-"), "sk-sk-sk-")).toEqual([0, 3, 6])
    expect(positions(exact("aaa"), "aaaaa")).toEqual([0, 1, 2])
  })

  test("case counts, or does not", () => {
    expect(positions(exact("Token"), "token TOKEN Token")).toEqual([12])
    expect(positions(anyCase("Token"), "token TOKEN Token tOkEn")).toEqual([0, 6, 12, 18])
  })

  test("a literal that is cut by the end is not found", () => {
    expect(positions(exact("token"), "toke")).toEqual([])
    expect(positions(exact("token"), "")).toEqual([])
  })

  test("bytes beyond ASCII are compared in full, though the table looks at seven bits", () => {
    expect(positions(exact("\xe1bc\xe4"), "abcd\xe1bc\xe4abcd")).toEqual([4])
  })

  test("without literals nothing is found", () => {
    expect(positions([], "anything")).toEqual([])
    expect(createLiteralScanner([]).lengthMax).toBe(0)
  })

  test("a literal of two bytes is a mistake", () => {
    expect(() => createLiteralScanner(exact("ab"))).toThrow(RangeError)
  })
})

describe("what stands at a position", () => {
  test("all literals, the longest first", () => {
    const scanner = createLiteralScanner(exact("sk-", "sk-ant-", "sk-a", "xyz"))
    expect(scanner.literalsAt(bytes(".sk-ant-1"), 1)).toEqual([1, 2, 0])
    expect(scanner.literalsAt(bytes(".sk-ant"), 1)).toEqual([2, 0])
    expect(scanner.literalsAt(bytes(".sk-ant-1"), 2)).toEqual([])
  })
})

describe("what could still become a literal", () => {
  const scanner = createLiteralScanner([...exact("password", "sword"), ...anyCase("Token")])
  test.each([
    ["xx pass", 3],
    ["xx p", 3],
    ["xx passw", 3],
    ["xx passwor", 3],
    ["xx password", 11],
    ["xx TOK", 3],
    ["xx q", 4],
    ["s", 0],
    ["", 0],
  ])("%p is open from %p on", (text, open) => {
    expect(scanner.findOpen(bytes(text), 0)).toBe(open)
  })

  test("what lies before the given place is not looked at", () => {
    expect(scanner.findOpen(bytes("xx pass"), 4)).toBe(6)
  })
})

test("it finds what a plain search finds", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "k", "-", "s"), minLength: 3, maxLength: 9 })
  const property = fc.property(
    fc.array(letters, { minLength: 1, maxLength: 6 }),
    fc.string({ unit: fc.constantFrom("a", "b", "k", "-", "s"), maxLength: 60 }),
    (texts, text) => {
      const expected = [...text].flatMap((_, at) =>
        texts.some(literal => text.startsWith(literal, at)) ? [at] : [],
      )
      expect(positions(exact(...texts), text)).toEqual(expected)
    },
  )
  fc.assert(property, { numRuns: 300 })
})
