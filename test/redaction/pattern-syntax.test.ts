import { describe, expect, test } from "bun:test"
import { type Pattern, PatternError, parseRedactionPattern } from "../../src/redaction/pattern-syntax.ts"

const members = (pattern: Pattern) => {
  if (pattern.kind === "sequence" && pattern.items.length === 1) return members(pattern.items[0] as Pattern)
  if (pattern.kind !== "bytes") return null
  return String.fromCharCode(...[...pattern.members.keys()].filter(byte => pattern.members[byte] === 1))
}

describe("sets of bytes", () => {
  test.each([
    ["a", "a"],
    ["[abc]", "abc"],
    ["[a-c0-2_-]", "-012_abc"],
    ["[]a]", "]a"],
    [String.raw`[\]\-\\]`, "-\\]"],
    [String.raw`\.`, "."],
    [String.raw`\x41`, "A"],
    [String.raw`\u0041`, "A"],
    [String.raw`\d`, "0123456789"],
    ["[[:digit:]x]", "0123456789x"],
    ["(?i)a", "Aa"],
    ["(?i)[a-b1]", "1ABab"],
    [String.raw`[\t ]`, "\t "],
  ])("%s", (source, expected) => {
    expect(members(parseRedactionPattern(source))).toBe(expected)
  })

  test("never contain the line end, because matching goes line by line", () => {
    for (const source of [
      ".",
      String.raw`\s`,
      String.raw`\W`,
      String.raw`\D`,
      String.raw`\S`,
      "[^a]",
      "[\t-\r]",
    ])
      expect(members(parseRedactionPattern(source))).not.toContain("\n")
  })

  test("a character beyond ASCII is the bytes of its UTF-8 form", () => {
    const pattern = parseRedactionPattern("é")
    expect(JSON.stringify(pattern)).toContain('"kind":"sequence"')
    expect(
      pattern.kind === "sequence"
        ? pattern.items.flatMap(item => (item.kind === "sequence" ? item.items : [item]))
        : [],
    ).toHaveLength(2)
  })
})

describe("structure", () => {
  test("choices, groups and repetitions", () => {
    expect(parseRedactionPattern("ab|c")).toMatchObject({
      kind: "choice",
      items: [{ kind: "sequence" }, { kind: "sequence" }],
    })
    expect(parseRedactionPattern("a{2,5}")).toMatchObject({ items: [{ kind: "repeat", min: 2, max: 5 }] })
    expect(parseRedactionPattern("a{3}")).toMatchObject({ items: [{ kind: "repeat", min: 3, max: 3 }] })
    expect(parseRedactionPattern("a{3,}")).toMatchObject({ items: [{ kind: "repeat", min: 3, max: null }] })
    expect(parseRedactionPattern("a+?")).toMatchObject({ items: [{ kind: "repeat", min: 1, max: null }] })
    expect(parseRedactionPattern("^a$")).toMatchObject({
      items: [
        { kind: "assertion", at: "lineStart" },
        { kind: "bytes" },
        { kind: "assertion", at: "lineEnd" },
      ],
    })
  })

  test("groups of every spelling mean the same", () => {
    const spellings = ["(ab)", "(?:ab)", "(?<name>ab)", "(?P<name>ab)"].map(source =>
      JSON.stringify(parseRedactionPattern(source)),
    )
    expect(new Set(spellings).size).toBe(1)
  })

  test("a brace that counts nothing is a brace", () => {
    expect(members(parseRedactionPattern("{"))).toBe("{")
  })
})

describe("what is refused, and why", () => {
  test.each([
    ["(a+)+", "exponential"],
    ["(a*b?)*", "exponential"],
    ["((a{2,})x)+", "exponential"],
    [String.raw`(a)\1`, "backreferences"],
    [String.raw`(?<n>a)\k<n>`, "backreferences"],
    ["(?=a)b", "lookahead"],
    ["(?!a)b", "lookahead"],
    ["(?<=a)b", "lookahead"],
    ["(?<!a)b", "lookahead"],
    ["(?>a)", "not supported"],
    ["(?i:a)", "not supported"],
    ["(?x)a", "flag"],
    ["a**", "nothing to repeat"],
    ["a++", "nothing to repeat"],
    ["*a", "nothing to repeat"],
    ["(a", 'missing ")"'],
    ["a)", 'unmatched ")"'],
    ["[a", 'missing "]"'],
    ["[z-a]", "out of order"],
    ["a{5,2}", "out of order"],
    ["a\\", "backslash"],
    [String.raw`\pL`, "not supported"],
    [String.raw`\A`, "not supported"],
    ["[[:nope:]]", "not supported"],
    ["[é]", "ASCII"],
    ["^*", "anchor"],
    [String.raw`a\nb`, "line by line"],
    ["(".repeat(60) + ")".repeat(60), "too deeply"],
  ])("%s", (source, reason) => {
    expect(() => parseRedactionPattern(source)).toThrow(PatternError)
    expect(() => parseRedactionPattern(source)).toThrow(reason)
  })
})
