import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { afterReading, firstRecord, observedTime, type TimeRecord } from "../../../src/store/upkeep/upkeep.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs
const beganMs = Date.UTC(2026, 0, 1)

/** A machine whose time is known, with a wall clock that may be set to anything. */
interface Machine {
  readonly trueMs: number
  readonly bootedMs: number
  readonly boots: number
  readonly record: TimeRecord
}

const fresh: Machine = { trueMs: beganMs, bootedMs: beganMs, boots: 1, record: firstRecord(beganMs) }

interface Step {
  /** How much time passes, and whether the machine is off at the end of it. */
  readonly passedMs: number
  readonly reboots: boolean
  /** How far the wall clock is off when it is read. */
  readonly wrongMs: number
}

function go(machine: Machine, { passedMs, reboots, wrongMs }: Step): Machine {
  const trueMs = machine.trueMs + passedMs
  const bootedMs = reboots ? trueMs : machine.bootedMs
  const boots = machine.boots + (reboots ? 1 : 0)
  const reading = { bootId: `boot ${boots}`, uptimeMs: trueMs - bootedMs, wallMs: trueMs + wrongMs }
  return { trueMs, bootedMs, boots, record: afterReading(machine.record, reading) }
}

const passing = fc.oneof(
  fc.integer({ min: 0, max: 90 * 60_000 }),
  fc.integer({ min: 0, max: 5 * dayMs }),
  fc.integer({ min: 0, max: 60 * dayMs }),
)
const wrong = fc.oneof(fc.constant(0), fc.integer({ min: -20 * yearMs, max: 20 * yearMs }))
const anyStep = fc.record({ passedMs: passing, reboots: fc.boolean(), wrongMs: wrong })

describe("observed time", () => {
  test("never goes back and never passes faster than time does, but for a day at each start of the machine", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), steps => {
        let machine = fresh
        for (const step of steps) {
          const before = machine
          machine = go(machine, step)
          const aged = machine.record.agedMs - before.record.agedMs
          expect(aged).toBeGreaterThanOrEqual(0)
          expect(aged).toBeLessThanOrEqual(step.passedMs + dayMs * (machine.boots - before.boots + 1))
          if (before.record.bootId === machine.record.bootId) expect(aged).toBe(step.passedMs)
        }
      }),
    )
  })

  test("says nothing of a clock that is set wrong while the machine runs", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(passing, wrong), { minLength: 1, maxLength: 40 }), steps => {
        let machine = go(fresh, { passedMs: 0, reboots: true, wrongMs: 0 })
        const { agedMs } = machine.record
        for (const [passedMs, wrongMs] of steps) machine = go(machine, { passedMs, reboots: false, wrongMs })
        expect(machine.record.agedMs - agedMs).toBe(machine.trueMs - beganMs)
      }),
    )
  })

  test("gives a now that a clock which is wrong for less than a day cannot put into the future", () => {
    const spells = fc.record({
      before: fc.array(passing, { maxLength: 10 }),
      wrongMs: wrong,
      during: fc.array(fc.integer({ min: 0, max: 3 * hourMs }), { minLength: 1, maxLength: 7 }),
      after: fc.array(fc.integer({ min: 1, max: 10 * dayMs }), { minLength: 1, maxLength: 10 }),
    })
    fc.assert(
      fc.property(spells, ({ before, wrongMs, during, after }) => {
        let machine = go(fresh, { passedMs: 0, reboots: true, wrongMs: 0 })
        const expectNow = () => expect(observedTime(machine.record).nowMs).toBeLessThanOrEqual(machine.trueMs)
        for (const [steps, off] of [
          [before, 0],
          [during, wrongMs],
          [after, 0],
        ] as const)
          for (const passedMs of steps) {
            machine = go(machine, { passedMs, reboots: false, wrongMs: off })
            expectNow()
          }
        expect(observedTime(machine.record)).toMatchObject({ nowMs: machine.trueMs, aheadMs: 0 })
      }),
    )
  })

  test("follows the clock of a machine that is off for longer, a day after it is on again", () => {
    let machine = go(fresh, { passedMs: 60 * dayMs, reboots: true, wrongMs: 0 })
    expect(observedTime(machine.record)).toMatchObject({ nowMs: beganMs + dayMs, aheadMs: 59 * dayMs })
    machine = go(machine, { passedMs: hourMs, reboots: false, wrongMs: 0 })
    machine = go(machine, { passedMs: dayMs, reboots: false, wrongMs: 0 })
    expect(observedTime(machine.record)).toMatchObject({ nowMs: machine.trueMs, aheadMs: 0 })
  })
})
