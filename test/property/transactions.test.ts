import { expect } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { testWhere } from "../support/requirement.ts"
import { editedMerges } from "../support/workspace/edited-merge.ts"
import { killedMerges } from "../support/workspace/killed-merge.ts"
import { missingOverlay } from "../support/workspace/overlay-command.ts"

/** `npm run soak -- --only killed-merges` and `--only edited-merges` do the same many more times. */
const layerTest = testWhere(missingOverlay)

for (const seed of [3, 1_613_961_164, 1_856_058_050])
  layerTest(
    `a merge that is killed anywhere is finished or dropped, and its undo exact (seed ${seed})`,
    async () => {
      const { violations, kills } = await killedMerges(seededRandom(seed), "error", 16)
      expect(violations).toEqual([])
      expect(kills).toBeGreaterThan(1)
    },
  )

layerTest("the same with processes that get SIGKILL", async () => {
  const { violations, kills } = await killedMerges(seededRandom(11), "signal", 4)
  expect(violations).toEqual([])
  expect(kills).toBeGreaterThan(1)
})

for (const [seed, usesGit] of [
  [2, false],
  [13, true],
] as const)
  layerTest(`merges displace nothing that a person saves meanwhile (seed ${seed})`, async () => {
    const { violations, edits } = await editedMerges(seededRandom(seed), 4, usesGit)
    expect(violations).toEqual([])
    expect(edits).toBeGreaterThan(0)
  })
