import { realTreeViolations } from "../contents/real-tree-run.ts"
import type { Programme } from "./programme.ts"

export const realTrees: Programme = {
  name: "real-trees",
  summary: "edits, patches, writes and reads of real sources by plans: the bytes of an oracle, and undone",
  count: 500,
  run: async ({ count, random, progress }) => {
    const found = await realTreeViolations({ files: 200, steps: count, batch: 50 }, random)
    progress(count)
    return found
  },
}
