import { expect, test } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { editedRounds } from "../support/concurrent-editor.ts"
import { missingProgram, missingSandbox, testWhere } from "../support/requirement.ts"

const seed = Number(process.env["ACODE_TEST_SEED"] ?? 20_261_116)

testWhere(missingSandbox ?? missingProgram("git"))(
  "no byte of a person who edits while plans run, are killed and undone is lost without a copy",
  async () => {
    expect(await editedRounds(4, seededRandom(seed))).toEqual([])
  },
  120_000,
)

test("the choices of a seed are the same each time", () => {
  const choices = () => Array.from({ length: 5 }, () => seededRandom(seed).whole(1_000))
  expect(choices()).toEqual(choices())
})
