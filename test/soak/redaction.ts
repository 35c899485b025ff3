import { decorationViolations } from "../support/hostile/text-decorations.ts"
import { inParallel, type Programme } from "./programme.ts"

export const redaction: Programme = {
  name: "redaction",
  summary: "labelled secrets and ordinary texts, decorated and cut into chunks: nothing leaks or is changed",
  count: 400,
  run: ({ count, random, progress }) => {
    let done = 0
    return inParallel(count, 1, async () => {
      const seed = random.whole(2 ** 31)
      const found = decorationViolations(seed).map(line => `seed ${seed}: ${line}`)
      progress(++done)
      return found
    })
  },
}
