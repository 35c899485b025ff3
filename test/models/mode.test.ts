import { describe, expect, test } from "bun:test"
import { type Mode, modes } from "../../src/domain/model-choice.ts"
import { checkMode, usualMode } from "../../src/models/mode.ts"
import { failureOf } from "../config/config-fixture.ts"
import { configWith } from "./model-room.ts"

const rules = (more: Partial<ReturnType<typeof configWith>["mode"]> = {}) => ({
  ...configWith().mode,
  ...more,
})

describe("the mode of a session without --mode", () => {
  test("is what is configured, and airgapped where that is locked", () => {
    expect(usualMode(rules())).toBe("local-only")
    expect(usualMode(rules({ default: "airgapped" }))).toBe("airgapped")
    expect(usualMode(rules({ airgapped_lock: true }))).toBe("airgapped")
  })
})

describe("a mode", () => {
  const allowed: readonly (readonly [before: Mode | null, mode: Mode])[] = [
    ...modes.map(mode => [null, mode] as const),
    ["local-only", "local-only"],
    ["local-only", "burst"],
    ["local-only", "airgapped"],
    ["burst", "burst"],
    ["burst", "local-only"],
    ["airgapped", "airgapped"],
  ]
  const all = [null, ...modes].flatMap(before => modes.map(mode => [before, mode] as const))

  test.each(all)("after %p: %s", async (before, mode) => {
    if (allowed.some(([from, to]) => from === before && to === mode)) {
      expect(() => checkMode(mode, before, rules())).not.toThrow()
      return
    }
    const report = await failureOf(() => checkMode(mode, before, rules()))
    expect(report).toMatchObject({ kind: "denied", code: "ACODE-MODEL-004" })
    expect(report.message).toStartWith(`the mode ${mode} is not allowed: the session `)
  })

  test("of burst is refused where it is not allowed, also to a session that had it", async () => {
    for (const before of [null, "local-only", "burst"] as const) {
      const report = await failureOf(() => checkMode("burst", before, rules({ allow_burst: false })))
      expect(report.message).toContain("mode.allow_burst")
    }
    expect(() => checkMode("local-only", null, rules({ allow_burst: false }))).not.toThrow()
  })

  test("is airgapped and nothing else where that is locked", async () => {
    const locked = rules({ airgapped_lock: true })
    for (const mode of ["local-only", "burst"] as const) {
      const report = await failureOf(() => checkMode(mode, null, locked))
      expect(report.message).toContain("mode.airgapped_lock")
    }
    expect(() => checkMode("airgapped", null, locked)).not.toThrow()
  })
})
