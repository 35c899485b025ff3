import { describe, expect, test } from "bun:test"
import { constants } from "node:os"
import { interruption, twoStepInterruption } from "../../../src/cli/terminal/interruption.ts"

const listeners = () => ["SIGINT", "SIGTERM", "SIGHUP"].map(name => process.listenerCount(name))

describe("an interruption", () => {
  test("is an abort that remembers its first signal, and nobody listens afterwards", () => {
    const before = listeners()
    {
      using interrupted = interruption()
      expect([interrupted.signal.aborted, interrupted.signalNumber()]).toEqual([false, null])
      process.emit("SIGTERM")
      process.emit("SIGINT")
      expect([interrupted.signal.aborted, interrupted.signalNumber()]).toEqual([
        true,
        constants.signals.SIGTERM,
      ])
    }
    expect(listeners()).toEqual(before)
  })

  test("ended by the program itself has no signal", () => {
    using interrupted = interruption()
    interrupted.abort()
    expect([interrupted.signal.aborted, interrupted.signalNumber()]).toEqual([true, null])
  })
})

describe("an interruption in two steps", () => {
  test("drains at the first signal and says so once, stops at the second", () => {
    let said = 0
    const before = listeners()
    {
      using interrupted = twoStepInterruption(() => said++)
      expect([interrupted.drain.aborted, interrupted.stop.aborted, said]).toEqual([false, false, 0])
      process.emit("SIGINT")
      expect([interrupted.drain.aborted, interrupted.stop.aborted, said]).toEqual([true, false, 1])
      process.emit("SIGTERM")
      expect([interrupted.drain.aborted, interrupted.stop.aborted, said]).toEqual([true, true, 1])
      process.emit("SIGINT")
      expect(interrupted.cause()).toBe("SIGINT")
    }
    expect(listeners()).toEqual(before)
  })

  test("says nothing to a terminal that was closed", () => {
    let said = 0
    using interrupted = twoStepInterruption(() => said++)
    process.emit("SIGHUP")
    expect([interrupted.drain.aborted, said, interrupted.cause()]).toEqual([true, 0, "SIGHUP"])
  })

  test("is taken by the program as well, one step after the other", () => {
    using interrupted = twoStepInterruption(() => undefined)
    interrupted.leave()
    expect([interrupted.drain.aborted, interrupted.stop.aborted]).toEqual([true, false])
    expect(interrupted.cause()).toBe("closedOutput")
    interrupted.hurry()
    expect(interrupted.stop.aborted).toBe(true)
  })
})
