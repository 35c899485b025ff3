import {
  afterDeath,
  type Death,
  deadlySignals,
  missingMemoryGroups,
} from "../support/hostile/killed-commands.ts"
import { inParallel, type Programme } from "./programme.ts"

export const killedCommands: Programme = {
  name: "killed-commands",
  summary:
    "deaths of acode at each fault point, by each signal and for want of memory: nothing of its command is left",
  count: 1,
  run: async ({ count, sandboxes, progress }) => {
    if (sandboxes.every(each => each === "none")) return []
    const found: string[] = []
    for (let round = 0; round < count; round++) {
      let points = 0
      while ((await noted(found, { point: points + 1 })) && points < pointsMax) points++
      if (points < 10 || points === pointsMax) found.push(`${points} fault points are not what a command has`)
      const memory = missingMemoryGroups === null ? [{ memoryBytesMax: 600 * 1024 * 1024 }] : []
      const deaths: readonly Death[] = [...deadlySignals.map(signal => ({ signal })), ...memory]
      await inParallel(deaths.length, 2, async index => {
        const death = deaths[index]
        if (death !== undefined) await noted(found, death)
        return []
      })
      progress(round + 1)
    }
    return found
  },
}

const pointsMax = 200

async function noted(found: string[], death: Death): Promise<boolean> {
  const { died, violations } = await afterDeath(death)
  found.push(...violations.map(violation => `${JSON.stringify(death)}: ${violation}`))
  return died
}
