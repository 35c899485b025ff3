import { someTampers, tamperedRoom } from "../support/hostile/tampered-session.ts"
import type { Programme } from "./programme.ts"

export const tamperedSessions: Programme = {
  name: "tampered-sessions",
  summary: "a cell of the database changed: exit 65, and nothing is granted, done or shown",
  count: 1_000,
  run: async ({ count, random, progress }) => {
    await using room = await tamperedRoom()
    // As many as there are: each of them once, and no choice.
    const chosen = count >= room.tampers.length ? room.tampers : someTampers(room.tampers, count, random)
    const found: string[] = []
    for (const [index, tamper] of chosen.entries()) {
      found.push(...(await room.violations(tamper)))
      progress(index + 1)
    }
    return found
  },
}
