import { describe, expect, test } from "bun:test"
import { pathText } from "../../../src/domain/plan/problem.ts"
import { parsePlanJson, planBytesMax } from "../../../src/domain/plan/strict-json.ts"

/** `path: message` of everything that was found. */
function findings(text: string): string[] {
  return parsePlanJson(text).findings.map(({ path, message }) => `${pathText(path)}: ${message}`)
}

describe("what the language takes for JSON is read to the same value", () => {
  test.each([
    "{}",
    "[]",
    '{"a":1}',
    ' { "a" : [ 1 , 2.5 , -3e2 , 0 , 1E-7 ] , "b" : { } } ',
    '"text"',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"',
    "true",
    "false",
    "null",
    '{"constructor":1,"toString":2,"":3,"a b":4}',
    '["é", "漢字", "😀", "\u007f", "\u2028"]',
    "\t\n\r [1]\n",
    "-0.5",
    "9007199254740991",
  ])("%s", text => {
    expect(parsePlanJson(text)).toEqual({ value: JSON.parse(text), findings: [] })
  })

  test("generated values survive, however they are spaced", () => {
    const random = seeded(20_261_115)
    for (let round = 0; round < 300; round++) {
      const value = randomJson(random, 0)
      for (const spaces of [0, 2]) {
        const text = JSON.stringify(value, null, spaces)
        expect(parsePlanJson(text), `round ${round}: ${text}`).toEqual({
          value: JSON.parse(text),
          findings: [],
        })
      }
    }
  })
})

describe("what the language refuses is refused with its line and column", () => {
  test.each([
    ["", "the end of the text where a value is expected (line 1, column 1)"],
    ["{", "the end of the text where a property name is expected (line 1, column 2)"],
    ['{\n  "a": 1,\n}', '"}" where a property name is expected (line 3, column 1)'],
    ['{"a" 1}', '"1" where ":" is expected (line 1, column 6)'],
    ['{"a":1 "b":2}', '""" where "," or "}" is expected (line 1, column 8)'],
    ["[1 2]", '"2" where "," or "]" is expected (line 1, column 4)'],
    ["[1,]", '"]" where a value is expected (line 1, column 4)'],
    ["{} {}", '"{" after the end of the plan (line 1, column 4)'],
    ["[01]", '"1" where "," or "]" is expected (line 1, column 3)'],
    ["[+1]", '"+" where a value is expected (line 1, column 2)'],
    ["[.5]", '"." where a value is expected (line 1, column 2)'],
    ["[1.]", '"." where "," or "]" is expected (line 1, column 3)'],
    ["[NaN]", '"N" where a value is expected (line 1, column 2)'],
    ["{'a':1}", '"\'" where a property name is expected (line 1, column 2)'],
    ["// note\n{}", '"/" where a value is expected (line 1, column 1)'],
    ['["a\nb"]', "a line break inside a string (line 1, column 4)"],
    ['["a', "the end of the text inside a string (line 1, column 4)"],
    ['["a\\', "the end of the text inside a string (line 1, column 5)"],
    ['["\\x41"]', "a string with an invalid escape (line 1, column 2)"],
    ['["\\u12"]', "a string with an invalid escape (line 1, column 2)"],
    ["\ufeff{}", '"\\ufeff" where a value is expected (line 1, column 1)'],
    ["trueish", '"i" after the end of the plan (line 1, column 5)'],
  ])("%j", (text, reason) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(parsePlanJson(text)).toEqual({
      value: null,
      findings: [{ code: "E001", path: [], message: `the text is not valid JSON: ${reason}` }],
    })
  })

  test("whatever one character does to a plan, both readers agree on whether it is JSON", () => {
    const text = '{"a": [1, -2.5e3, "x\\n\\u0041"], "b": {"c": null, "d": true}}'
    const random = seeded(7)
    for (let round = 0; round < 2000; round++) {
      const at = Math.floor(random() * text.length)
      const put = '{}[]",:\\ 0-.eu\nx'[Math.floor(random() * 16)] ?? ""
      const changed = text.slice(0, at) + put + text.slice(at + (random() < 0.5 ? 1 : 0))
      const { value, findings: found } = parsePlanJson(changed)
      expect({ changed, isJson: value !== null }).toEqual({ changed, isJson: languageReads(changed) })
      if (found.length === 0) expect(value, changed).toEqual(JSON.parse(changed))
    }
  })
})

describe("what two readers could read differently is refused, and the rest is still read", () => {
  test("a key that occurs twice, however it is spelled", () => {
    expect(findings('{"a":1,"b":{"x":1,"x":2},"\\u0061":3}')).toEqual([
      "$.b.x: is given twice; remove one",
      "$.a: is given twice; remove one",
    ])
    expect(parsePlanJson('{"a":1,"a":2,"b":3}').value).toEqual({ a: 2, b: 3 })
  })

  test("a key that would change the object itself", () => {
    expect(findings('{"a":{"__proto__":{"b":1}}}')).toEqual([
      "$.a.__proto__: is not allowed as a property name",
    ])
  })

  test("half of a character, as an escape or as it is, in a key or in a value", () => {
    const reason = "contains a lone surrogate"
    expect(findings('{"a":"\\ud800"}')).toEqual([`$.a: ${reason}`])
    expect(findings('{"a":["x","\\udc00\\ud800"]}')).toEqual([`$.a[1]: ${reason}`])
    expect(findings('["\ud800"]')).toEqual([`$[0]: ${reason}`])
    expect(findings('{"\\ud800":1}')).toEqual([`$: ${reason}`])
    expect(findings('["\\ud83d\\ude00"]')).toEqual([])
  })

  test.each(["9007199254740993", "1e400", "-1e400", "123456789012345678901234567890"])(
    "the number %s, which would be rounded",
    number => {
      expect(findings(`{"a":[${number}]}`)).toEqual(["$.a[0]: is a number too large to be stored exactly"])
    },
  )
})

describe("limits", () => {
  test("64 levels are read and 65 are not", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    expect(findings(nested(64))).toEqual([])
    expect(findings(nested(65))).toEqual([
      "$: the text is not valid JSON: it is nested more than 64 levels deep (line 1, column 65)",
    ])
  })

  test("a million open brackets end in a sentence and not in a crash", () => {
    expect(findings("[".repeat(1_000_000))).toHaveLength(1)
    expect(findings('{"a":'.repeat(500_000))).toHaveLength(1)
  })

  test("5 MB are read and one byte more is not", () => {
    const filled = (bytes: number) => `"${"a".repeat(bytes - 2)}"`
    expect(findings(filled(planBytesMax))).toEqual([])
    expect(findings(filled(planBytesMax + 1))).toEqual(["$: the plan is larger than 5 MB"])
  })

  test("the size is that of the bytes, not of the characters", () => {
    expect(findings(`"${"é".repeat(planBytesMax / 2)}"`)).toEqual(["$: the plan is larger than 5 MB"])
  })
})

function languageReads(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // Whether it throws is all that is asked.
    return false
  }
}

/** A small generator with a seed, so that a failure can be repeated. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function randomJson(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 4 ? 4 : 6))
  const size = Math.floor(random() * 4)
  if (kind === 0) return random() < 0.5
  if (kind === 1) return Math.floor((random() - 0.5) * 1e6) / (random() < 0.5 ? 1 : 128)
  if (kind === 2) return null
  if (kind === 3) return ['a"b', "\\", "\u0001", "é😀", "", "x\ny"][Math.floor(random() * 6)]
  const items = Array.from({ length: size }, () => randomJson(random, depth + 1))
  return kind === 4 ? items : Object.fromEntries(items.map((item, index) => [`k${index}"`, item]))
}
