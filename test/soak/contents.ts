import { largeSizes, sampleOf, shapesOf, smallSizes } from "../contents/corpus.ts"
import { OracleDirectory } from "../contents/oracle.ts"
import { readViolations } from "../contents/read-checks.ts"
import { contentRoom } from "../contents/room.ts"
import { writeViolations } from "../contents/write-checks.ts"
import type { Programme } from "./programme.ts"

/** Every shape at every size, again and again with other choices. */
export const contents: Programme = {
  name: "contents",
  summary: "files of all shapes and sizes, read and written by everything: the bytes of an oracle",
  count: 300,
  run: async ({ count, random, progress }) => {
    const all = [...smallSizes, ...largeSizes].flatMap(size => shapesOf().map(shape => ({ shape, size })))
    const found: string[] = []
    using oracle = new OracleDirectory()
    for (let index = 0; index < count; index += all.length) {
      // A log of its own for each round: one that grows for ever would be what takes the time.
      using room = contentRoom()
      for (const [at, { shape, size }] of all.slice(0, count - index).entries()) {
        const sample = sampleOf(shape, size, random)
        const problems = [
          ...(await readViolations(room, oracle, sample, random)),
          ...(await writeViolations(room, oracle, sample, random)),
        ]
        found.push(...problems.map(problem => `#${index + at} ${sample.name}: ${problem}`))
        progress(index + at + 1)
      }
    }
    return found
  },
}
