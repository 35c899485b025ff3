import { describe, expect, expectTypeOf, test } from "bun:test"
import * as z from "zod/mini"
import { defineEvent, EventManifest, newEvent } from "../../../src/domain/events/definition.ts"

const LampLit = defineEvent("lamp.lit", 1, "A lamp was lit.", () =>
  z.strictObject({ watts: z.number().check(z.positive()) }),
)
const LampLitNow = defineEvent("lamp.lit", 2, "A lamp was lit.", () => z.strictObject({ lumen: z.number() }))

describe("the definition of an event", () => {
  test("carries name, version, summary and shape", () => {
    expect(LampLit).toMatchObject({ type: "lamp.lit", version: 1, summary: "A lamp was lit." })
    expect(LampLit.data.safeParse({ watts: 40 }).success).toBe(true)
  })

  test("is named noun.verb in snake case", () => {
    for (const type of ["lamp", "Lamp.lit", "lamp.lit.twice", "lamp-lit", "lamp.", ".lit", "lamp.lit2"])
      expect(() => defineEvent(type, 1, "x", () => z.object({}))).toThrow("noun.verb")
    expect(() => defineEvent("tool_call.settled", 1, "x", () => z.object({}))).not.toThrow()
  })
})

describe("a new event", () => {
  test("takes type and version from its definition", () => {
    expect(newEvent(LampLit, { watts: 40 })).toEqual({ type: "lamp.lit", version: 1, data: { watts: 40 } })
  })

  test("of a wrong shape does not compile", () => {
    expectTypeOf<Parameters<typeof newEvent<typeof LampLit>>[1]>().toEqualTypeOf<{ watts: number }>()
    expect(LampLit.data.safeParse({ watts: "many" }).success).toBe(false)
  })
})

describe("the shape", () => {
  test("is built once, and not before somebody asks for it", () => {
    let built = 0
    const Rare = defineEvent("lamp.broken", 1, "x", () => {
      built += 1
      return z.object({})
    })
    newEvent(Rare, {})
    expect(built).toBe(0)
    expect(Rare.data).toBe(Rare.data)
    expect(built).toBe(1)
  })
})

describe("the manifest", () => {
  const manifest = new EventManifest([LampLit, LampLitNow])

  test("finds an event by name and version", () => {
    expect(manifest.find("lamp.lit", 1)).toBe(LampLit)
    expect(manifest.find("lamp.lit", 2)).toBe(LampLitNow)
  })

  test("knows nothing of what was not declared", () => {
    expect(manifest.find("lamp.lit", 3)).toBeNull()
    expect(manifest.find("lamp.broken", 1)).toBeNull()
    expect(manifest.find("constructor", 1)).toBeNull()
  })

  test("refuses a second declaration of the same event", () => {
    expect(() => new EventManifest([LampLit, LampLitNow, LampLit])).toThrow(
      "event lamp.lit@1 is declared once",
    )
  })
})
