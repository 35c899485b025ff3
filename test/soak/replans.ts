import fc from "fast-check"
import { replannedSession, unadmittedRuns } from "../support/plan/replanned-session.ts"
import type { Programme } from "./programme.ts"

/** Whatever a model plans and calls, and whoever answers: what runs was in a question somebody granted. */
export const replans: Programme = {
  name: "replans",
  summary: "sessions with random plans, calls and answers: no command runs that nobody admitted",
  count: 300,
  run: async ({ count, random, progress }) => {
    const found: string[] = []
    for (const [index, choice] of fc
      .sample(replannedSession, { numRuns: count, seed: random.whole(2 ** 31) })
      .entries()) {
      const unadmitted = await unadmittedRuns(choice)
      found.push(...unadmitted.map(line => `session ${index}: nobody admitted ${line}`))
      progress(index + 1)
    }
    return found
  },
}
