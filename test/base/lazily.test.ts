import { expect, test } from "bun:test"
import { lazily } from "../../src/base/lazy.ts"

test("a value is built when it is first asked for, and then never again", () => {
  let built = 0
  const value = lazily(() => {
    built += 1
    return { number: built }
  })
  expect(built).toBe(0)
  expect(value()).toEqual({ number: 1 })
  expect(value()).toBe(value())
  expect(built).toBe(1)
})

test("nothing at all is a value like any other", () => {
  let built = 0
  const value = lazily(() => {
    built += 1
    return undefined
  })
  expect([value(), value()]).toEqual([undefined, undefined])
  expect(built).toBe(1)
})

test("a builder that fails is asked again", () => {
  let tries = 0
  const value = lazily(() => {
    tries += 1
    if (tries === 1) throw new Error("not yet")
    return "ready"
  })
  expect(value).toThrow("not yet")
  expect(value()).toBe("ready")
})
