import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readJson, skipSpace } from "../../../src/provider/ladder/json-text.ts"

describe("a JSON value in a text", () => {
  const whole: readonly (readonly [text: string, end: number])[] = [
    ["{}", 2],
    ["[ ]", 3],
    ['{"a":[1,-2.5e3,true,false,null,"x"]}', 36],
    ['{ "a" : { "b" : [ ] } } and more', 23],
    ['"\\u00e9\\n\\"" x', 12],
    ["0", 1],
    ["[1] [2]", 3],
  ]
  test.each(whole)("%s ends at %d", (text, end) => {
    const reading = readJson(text, 0)
    expect(reading).toMatchObject({ end, value: JSON.parse(text.slice(0, end)) })
  })

  test("may begin anywhere", () => {
    expect(readJson('say {"a":1}!', 4)).toEqual({ value: { a: 1 }, end: 11 })
  })

  test("is what JSON.parse reads, whatever it is", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom("", " ", "}", "```", ", x"), (json, behind) => {
        // A digit behind a number would belong to it; these never do.
        const reading = readJson(json + behind, 0)
        expect(reading.problem).toBeUndefined()
        if (reading.problem === undefined) expect(reading.value).toEqual(JSON.parse(json))
      }),
    )
  })

  test("is never read out of a text that JSON.parse refuses", () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom("", '"', "{", "]", ",", "\\", "\n"),
        (json, at, sign) => {
          const place = at % (json.length + 1)
          const changed = json.slice(0, place) + sign + json.slice(place + 1)
          const reading = readJson(changed, 0)
          if (reading.problem === undefined) JSON.parse(changed.slice(0, reading.end))
        },
      ),
    )
  })
})

describe("what is not JSON", () => {
  const broken: readonly (readonly [text: string, problem: string])[] = [
    ["", "line 1, column 1: expected a value and found the end"],
    ["{'a':1}", `line 1, column 2: expected a name in double quotes and found "'a':1}"`],
    ['{"a" 1}', 'line 1, column 6: expected ":" and found "1}"'],
    ['{"a":1', 'line 1, column 7: expected "," or "}" and found the end'],
    ['{"a":1,}', 'line 1, column 8: expected a name in double quotes and found "}"'],
    ["[1 2]", 'line 1, column 4: expected "," or "]" and found "2]"'],
    ['{\n  "a": maybe\n}', 'line 2, column 8: expected a value and found "maybe\\n}"'],
    ['{"a":"x', "line 1, column 8: expected the double quote that ends the text and found the end"],
    [
      '{"a":"x\ny"}',
      'line 1, column 8: expected an escape such as "\\n" inside of text and found "\\ny\\"}"',
    ],
    ['["\\x"]', 'line 1, column 3: expected an escape that JSON has and found "\\\\x\\"]"'],
    ['["\\u12"]', 'line 1, column 3: expected an escape that JSON has and found "\\\\u12\\"]"'],
    ["1e999", 'line 1, column 1: expected a smaller number and found "1e999"'],
    [
      '{"a":1,"\\u0061":2}',
      'line 1, column 8: expected a name that was not given before and found "\\"\\\\u0061\\":2}"',
    ],
  ]
  test.each(broken)("%j is refused with its place", (text, problem) => {
    expect(readJson(text, 0)).toEqual({ problem })
  })

  test("is nesting that would overflow the stack of anyone who reads it", () => {
    const deep = "[".repeat(200_000)
    expect(readJson(deep, 0).problem).toContain("expected at most 72 levels of nesting")
    expect(readJson(`${'{"a":'.repeat(80)}1${"}".repeat(80)}`, 0).problem).toContain("72 levels")
  })
})

test("space is what JSON calls space and nothing else", () => {
  expect(skipSpace(" \t\r\nx", 0)).toBe(4)
  expect(skipSpace("\u00a0x", 0)).toBe(0)
  expect(skipSpace("  ", 0)).toBe(2)
})
