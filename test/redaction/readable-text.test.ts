import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readableText } from "../../src/redaction/readable-text.ts"

const read = (source: string, isFinal = true) => readableText(Buffer.from(source, "latin1"), isFinal)
const shown = (source: string, isFinal = true) => Buffer.from(read(source, isFinal).bytes).toString("latin1")

describe("a text reads", () => {
  test.each([
    ["\x1b[1mbold\x1b[0m", "bold"],
    ["\x1b[38;2;1;2;3mred\x1b[K\x1b(B", "red"],
    ["a\x1b]8;;https://x.org\x1b\\link\x1b]8;;\x07b", "alinkb"],
    ["\\u001b[1mbold\\u001b[0m", "bold"],
    ["\\x1b[1m\\033[0m\\e[2mx", "x"],
    ["\\u0041\\x42\\/\\$", "AB/$"],
    ["\\u0022k\\u0022", '\\"k\\"'],
    ["&quot;k&quot;&#39;&lt;&amp;&gt;", '\\"k\\"\\\'<&>'],
    ["'a'\\''b'", "'a\\'b'"],
    [`'a'"'"'b'`, "'a\\'b'"],
    ["\\u0026quot;", '\\"'],
    ["&amp;amp;lt;", "<"],
  ])("%j as %j", (source, expected) => {
    expect(shown(source)).toBe(expected)
  })

  test.each([
    "plain text & more",
    "it's \"quoted\" 'text'",
    "C:\\users\\new\\token",
    '"a\\"b\\\\c\\n"',
    "\\u00e9\\u0020\\u000a\\u1234",
    "&nbsp;&copy;&lt",
    "\x1b",
    "\x1b[",
    "\x1b[REDACTED:token]",
    `\x1b]8;;${"x".repeat(600)}\x07`,
    "\x1b]8;;x\n\x07",
  ])("%j as it is", source => {
    const bytes = Buffer.from(source, "latin1")
    expect(readableText(bytes, true).bytes).toBe(bytes)
  })

  test("without decoration as the very same bytes", () => {
    const bytes = Buffer.from("nothing to decode")
    expect(readableText(bytes, true).bytes).toBe(bytes)
    expect(readableText(bytes, false).bytes).toBe(bytes)
  })

  test("with a sequence that has not ended only up to there", () => {
    for (const open of ["\x1b", "\x1b[3", "\x1b]8;;x", "\\", "\\u00", "&quo", "'\\", `'"'`]) {
      expect(read(`text${open}`, false).sourceEnd).toBe(4)
      expect(read(`text${open}`).sourceEnd).toBe(4 + open.length)
    }
  })

  test("with decoration in a row up to a bound", () => {
    expect(shown("\x1b[1m".repeat(100))).toBe("")
    expect(shown("\x1b[1m".repeat(10_000)).length).toBeGreaterThan(30_000)
  })
})

const pieces = fc.array(
  fc.constantFrom(
    "a",
    "bc ",
    "\x1b[1m",
    "\x1b]8;;t\x07",
    "\\u0041",
    "\\u0022",
    "&quot;",
    "\\/",
    "'\\''",
    "\\u0026lt;",
    "\n",
  ),
  { maxLength: 20 },
)

test("every readable byte has its place in the source, in order, with the decoration between", () => {
  const property = fc.property(pieces, parts => {
    const source = Buffer.from(parts.join(""), "latin1")
    const text = readableText(source, true)
    let before = 0
    for (let at = 0; at < text.bytes.length; at++) {
      const [start, end] = [text.startOf(at), text.endOf(at + 1)]
      expect(start).toBeGreaterThanOrEqual(before)
      expect(end).toBeGreaterThan(start)
      const isPlain = end - start === 1
      if (isPlain) expect(source[start]).toBe(text.bytes[at])
      if (isPlain) expect(text.readableAt(start)).toBe(at)
      before = start
    }
    expect(text.startOf(text.bytes.length)).toBe(source.length)
  })
  fc.assert(property, { numRuns: 500 })
})

test("what only a terminal reads is told apart", () => {
  const source = "x\x1b]8;;https://a?token=1\x1b\\y\x1b]0;title\x07"
  const payloads = read(source).payloads(0, source.length)
  expect(payloads.map(({ start, end }) => source.slice(start, end))).toEqual([
    "8;;https://a?token=1",
    "0;title",
  ])
})
