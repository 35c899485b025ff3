import { editedRounds } from "../support/workspace/concurrent-editor.ts"
import { inParallel, type Programme } from "./programme.ts"
import { seededRandom } from "./random.ts"

const roundsEach = 10

export const concurrentEditor: Programme = {
  name: "concurrent-editor",
  summary:
    "sessions while a person edits, moves, commits and switches branches; killed and undone: no byte is lost",
  count: 1_000,
  run: async ({ count, random, sandboxes, progress }) => {
    if (sandboxes.every(each => each === "none")) return []
    let done = 0
    // Each workspace has choices of its own, whatever the order in which they run.
    const seeds = Array.from({ length: Math.ceil(count / roundsEach) }, () => random.whole(2 ** 31))
    return await inParallel(seeds.length, 3, async index => {
      const { violations, broughtBack } = await editedRounds(roundsEach, seededRandom(seeds[index] ?? 0))
      done += roundsEach
      progress(done)
      const found =
        broughtBack === 0 ? [...violations, "nothing was taken away and brought back"] : violations
      return found.map(problem => `#${index} (seed ${seeds[index]}) ${problem}`)
    })
  },
}
