import { describe, expect, test } from "bun:test"
import {
  captureModes,
  environmentModes,
  limitRanges,
  networkChoices,
  sandboxChoices,
  unlimited,
  usualNetworkChoices,
} from "../../src/domain/command.ts"

describe("the choices people type", () => {
  test("are the documented ones", () => {
    expect(environmentModes).toEqual(["inherit", "merge", "replace"])
    expect(captureModes).toEqual(["all", "stdout", "stderr", "none"])
    expect(sandboxChoices).toEqual(["auto", "bwrap", "container", "none"])
    expect(networkChoices).toEqual(["none", "host", "hosts"])
    expect(usualNetworkChoices).toEqual(["none", "host"])
  })
})

describe("limits", () => {
  test("that nobody set leave the defaults of the sandbox in force", () => {
    expect(Object.values(unlimited)).toEqual([null, null, null, null])
    expect(Object.isFrozen(unlimited)).toBe(true)
  })

  test("have a range each, of positive whole numbers", () => {
    for (const { min, max } of Object.values(limitRanges)) {
      expect(min).toBeGreaterThanOrEqual(1)
      expect(max).toBeGreaterThan(min)
      expect(Number.isSafeInteger(min) && Number.isSafeInteger(max)).toBe(true)
    }
  })

  test("of time fit a timer, which counts in 31 bits", () => {
    expect(limitRanges.timeoutMs.max).toBeLessThan(2 ** 31)
  })
})
