import { expect, test } from "bun:test"
import fc from "fast-check"
import type { Json } from "../../src/base/canonical.ts"
import { readScript, scriptProblemText } from "../../src/provider/script/script-file.ts"

const words = ["replies", "stage", "plan", "questions", "calls", "text", "verdict", "fault", "usage", "kind"]
const values = ["planner", "executor", "agent", "slow", "timeout", "", "x"]

/** JSON that is made of the words of a script, so that it gets far before it goes wrong. */
const alike = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom<Json>(...values, null, true, 0, -1, 1.5),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...words, "tool", "args", "after_ms", "input"), tie("value"), {
      maxKeys: 4,
    }),
  ),
})).value

function isKnown(value: Json): void {
  const reading = readScript(value)
  if ("script" in reading) {
    expect(reading.script.replies.length).toBeGreaterThan(0)
    return
  }
  expect(reading.problems.length).toBeGreaterThan(0)
  for (const problem of reading.problems) expect(scriptProblemText(problem)).toMatch(/^\$.*: .+/s)
}

test("whatever JSON it is given, reading a script ends with the script or with problems", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), value => isKnown(value as Json)),
    { numRuns: 500 },
  )
})

test("so it does with JSON that looks like a script", () => {
  fc.assert(
    fc.property(fc.array(alike, { maxLength: 4 }), replies => isKnown({ replies })),
    { numRuns: 1_000 },
  )
})

test("a script that is valid says every reply it was written with, in order", () => {
  const reply = fc.record({ stage: fc.constantFrom("planner", "executor"), text: fc.string() })
  fc.assert(
    fc.property(fc.array(reply, { minLength: 1, maxLength: 20 }), replies => {
      const reading = readScript({ replies })
      const said = "script" in reading ? reading.script.replies.map(({ content }) => content?.text) : []
      expect(said).toEqual(replies.map(({ text }) => text))
    }),
    { numRuns: 200 },
  )
})
