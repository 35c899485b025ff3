import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Random } from "../soak/random.ts"
import { simulate } from "../support/pipeline/pipeline-simulation.ts"

/** Choices from a list that fast-check can shorten; when it is used up, everything goes well. */
function listed(choices: readonly number[]): Random {
  let next = 0
  const whole = (below: number) => (choices[next++] ?? 0) % below
  return {
    whole,
    oneOf: values => {
      const value = values[whole(values.length)]
      if (value === undefined) throw new Error("nothing to choose from")
      return value
    },
  }
}

const stepsMin = 20_000

/** A question whose step reached beyond the workspace: it ended with exit 0 although nothing was verified. */
const questionThatReachedOut = [
  ...new Array<number>(10).fill(0),
  ...[886587842, 13772881, 0, 0, 0, 0, 0, 0, 0, 0, 1423905991, 905603914, 0, 476003649, 0, 372265330],
  ...[0, 0, 0, 0, 337000563, 0, 435222401, 0, 0, 0, 0, 0, 0, 1235456303, 0, 1048873633, 596292363, 0],
  ...[0, 0, 0, 0, 0, 248238112],
]

describe("any session", () => {
  test("comes to its end or to a rest within its limits, by legal moves, and is what its events say", () => {
    const seed = Number(process.env["ACODE_TEST_SEED"] ?? crypto.getRandomValues(new Uint16Array(1))[0])
    const endings = new Map<string, number>()
    let steps = 0
    const session = fc.property(
      fc.array(fc.nat(), { minLength: 40, maxLength: 900, size: "max" }),
      choices => {
        const simulation = simulate(listed(choices))
        steps += simulation.steps
        endings.set(simulation.ending, (endings.get(simulation.ending) ?? 0) + 1)
        expect(simulation.violations).toEqual([])
      },
    )
    fc.assert(session, { numRuns: 600, seed, examples: [[questionThatReachedOut]] })
    process.stdout.write(`pipeline property: seed ${seed}, ${steps} steps\n`)
    expect(steps).toBeGreaterThanOrEqual(stepsMin)
    expect([...endings.keys()]).toContain("COMPLETED 0")
  }, 60_000)
})
