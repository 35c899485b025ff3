import { undoneManifest } from "../support/workspace/undo-manifest.ts"
import { inParallel, type Programme } from "./programme.ts"
import { seededRandom } from "./random.ts"

const programEach = 10

export const undoManifest: Programme = {
  name: "undo-manifest",
  summary:
    "sessions that change random trees, undone: type, mode, target and content are as before, or named",
  count: 2_000,
  run: ({ count, random, sandboxes, progress }) => {
    let done = 0
    const seeds = Array.from({ length: count }, () => random.whole(2 ** 31))
    // One after the other: commands that run in this process are waited for by whoever asks first.
    return inParallel(count, 1, async index => {
      const seed = seeds[index] ?? 0
      const isProgram = index % programEach === 0 && sandboxes.some(each => each !== "none")
      const found = await undoneManifest(seededRandom(seed), isProgram)
      progress(++done)
      return found.map(lie => `#${index} (seed ${seed}) ${lie}`)
    })
  },
}
