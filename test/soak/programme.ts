import { messageOf } from "../../src/base/assert.ts"
import type { Random } from "./random.ts"

/** A long test that repeats one thing with other choices until it breaks or has done it `count` times. */
export interface Programme {
  readonly name: string
  readonly summary: string
  readonly count: number
  /** Gives one line for each thing that is not as it must be. */
  run(request: ProgrammeRequest): Promise<readonly string[]>
}

export interface ProgrammeRequest {
  readonly count: number
  readonly random: Random
  readonly sandboxes: readonly string[]
  readonly progress: (done: number) => void
}

/**
 * Runs `work` for 0 … count-1, a few at a time, and gives everything they found. Work that fails, such as by its time
 * limit on a busy machine, is reported as well, and the rest is done nevertheless.
 */
export async function inParallel(
  count: number,
  width: number,
  work: (index: number) => Promise<readonly string[]>,
): Promise<string[]> {
  const found: string[] = []
  let next = 0
  const lane = async () => {
    while (next < count) {
      const index = next++
      try {
        found.push(...(await work(index)))
      } catch (error) {
        found.push(`#${index} was not completed: ${messageOf(error)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  return found
}
