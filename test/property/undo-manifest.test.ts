import { expect, test } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { missingProgram, missingSandbox, testWhere } from "../support/requirement.ts"
import { undoneManifest } from "../support/workspace/undo-manifest.ts"

const seed = Number(process.env["ACODE_TEST_SEED"] ?? 20_261_116)

/** The paths of some rounds that are not as they were and that nobody was told of. */
async function lies(rounds: number, isProgram: boolean): Promise<readonly string[]> {
  const found: string[] = []
  for (let each = seed; each < seed + rounds; each++)
    found.push(...(await undoneManifest(seededRandom(each), isProgram)).map(lie => `seed ${each}: ${lie}`))
  return found
}

test("after an undo type, mode, target and content of everything are as they were, or it is named", async () => {
  expect(await lies(20, false)).toEqual([])
})

testWhere(missingSandbox ?? missingProgram("setpriv"))(
  "also where directories and files may not be read",
  async () => {
    expect(await lies(3, true)).toEqual([])
  },
)
