import { editedMerges } from "../support/workspace/edited-merge.ts"
import { killedMerges } from "../support/workspace/killed-merge.ts"
import { layerLimits } from "../support/workspace/layer-limits.ts"
import { missingOverlay } from "../support/workspace/overlay-command.ts"
import { undoneManifest } from "../support/workspace/undo-manifest.ts"
import { inParallel, type Programme, type ProgrammeRequest } from "./programme.ts"
import { type Random, seededRandom } from "./random.ts"

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

const signalEach = 20
const gitEach = 3

export const killedMergeProgramme: Programme = {
  name: "killed-merges",
  summary: "merges and undos of random commands in random trees, killed after their changes: trees are exact",
  count: 1_000,
  run: request =>
    seeded(request, async (random, index) => {
      const death = index % signalEach === 0 ? "signal" : "error"
      return (await killedMerges(random, death, 60)).violations
    }),
}

export const editedMergeProgramme: Programme = {
  name: "edited-merges",
  summary: "merges and undos while a person edits, moves directories and switches branches: no byte is lost",
  count: 1_000,
  run: request =>
    seeded(
      request,
      async (random, index) => (await editedMerges(random, 6, index % gitEach === 0)).violations,
    ),
}

export const layerLimitProgramme: Programme = {
  name: "layer-limits",
  summary: "60,000 files that a command made, changed and removed: merged and undone in bounded memory",
  count: 1,
  run: request => seeded(request, () => layerLimits(60_000)),
}

function seeded(
  { count, random, progress }: ProgrammeRequest,
  work: (random: Random, index: number) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (missingOverlay !== null) return Promise.resolve([missingOverlay])
  let done = 0
  const seeds = Array.from({ length: count }, () => random.whole(2 ** 31))
  return inParallel(count, 2, async index => {
    const seed = seeds[index] ?? 0
    const violations = await work(seededRandom(seed), index)
    progress(++done)
    return violations.map(violation => `#${index} (seed ${seed}) ${violation}`)
  })
}
