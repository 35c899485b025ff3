import { randomSplices } from "../code/random-splices.ts"
import type { Programme } from "./programme.ts"

export const splices: Programme = {
  name: "splices",
  summary: "random splices of real files: each as strings say, or every file as it was",
  count: 1_000,
  run: async ({ count, random, progress }) => {
    const { violations, applied, refused } = await randomSplices(count, random)
    progress(count)
    const made = [...applied].map(([extension, times]) => `${times} ${extension}`).join(", ")
    process.stdout.write(`  made: ${made}; ${refused} calls refused or without a symbol\n`)
    return applied.size < 5 ? [...violations, "fewer than five languages"] : violations
  },
}
