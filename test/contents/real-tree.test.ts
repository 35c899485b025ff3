import { expect } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { realTreeViolations } from "./real-tree-run.ts"

const diffTest = testWhere(missingProgram("diff") ?? missingProgram("git"))

/** A part of what `npm run soak -- --only real-trees` does. */
diffTest("plans that change real sources leave what plain strings make of them, and are undone", async () => {
  expect(await realTreeViolations({ files: 60, steps: 80, batch: 40 }, seededRandom(14))).toEqual([])
})
