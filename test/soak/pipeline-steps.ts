import { simulate } from "../support/pipeline/pipeline-simulation.ts"
import type { Programme } from "./programme.ts"
import { seededRandom } from "./random.ts"

/** Without a world: only the decisions of the pipeline, over sessions in which everything may go wrong. */
export const pipelineSteps: Programme = {
  name: "pipeline-steps",
  summary: "decisions of simulated sessions: always to an end or a rest, within the limits, by legal moves",
  count: 1_000_000,
  run: async ({ count, random, progress }) => {
    const found: string[] = []
    const endings = new Map<string, number>()
    let done = 0
    while (done < count) {
      const seed = random.whole(2 ** 32)
      const { steps, ending, violations } = simulate(seededRandom(seed))
      endings.set(ending, (endings.get(ending) ?? 0) + 1)
      found.push(...violations.map(violation => `session of seed ${seed}: ${violation}`))
      // Told each time a further tenth is done: every hundred would be ten thousand lines.
      if (Math.floor((done * 10) / count) !== Math.floor(((done + steps) * 10) / count))
        progress(Math.floor((done + steps) / 100) * 100)
      done += steps
    }
    const told = [...endings].map(([ending, times]) => `${ending}: ${times}`).sort()
    process.stdout.write(`  sessions by ending: ${told.join(", ")}\n`)
    return found
  },
}
