import { expect, test } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { someTampers, tamperedRoom } from "../support/hostile/tampered-session.ts"

const seed = Number(process.env["ACODE_TEST_SEED"] ?? 20_261_118)

test("what somebody changed in the database has no effect but that acode says so: nothing is granted, done or shown", async () => {
  await using room = await tamperedRoom()
  const found: string[] = []
  for (const tamper of someTampers(room.tampers, 10, seededRandom(seed)))
    found.push(...(await room.violations(tamper)))
  expect(found).toEqual([])
}, 120_000)
