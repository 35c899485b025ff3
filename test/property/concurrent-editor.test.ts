import { expect, test } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { missingProgram, missingSandbox, testWhere } from "../support/requirement.ts"
import { editedRounds } from "../support/workspace/concurrent-editor.ts"

const seed = Number(process.env["ACODE_TEST_SEED"] ?? 20_261_116)

testWhere(missingSandbox ?? missingProgram("git"))(
  "no byte of a person who edits while sessions run, are killed, resumed and undone is lost without a copy",
  async () => {
    const { violations, broughtBack } = await editedRounds(4, seededRandom(seed))
    expect(violations).toEqual([])
    expect(broughtBack).toBeGreaterThan(0)
  },
  180_000,
)

test("the choices of a seed are the same each time", () => {
  const choices = () => Array.from({ length: 5 }, () => seededRandom(seed).whole(1_000))
  expect(choices()).toEqual(choices())
})
