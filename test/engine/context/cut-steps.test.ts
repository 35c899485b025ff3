import { expect, test } from "bun:test"
import { cutInSteps, roomOf } from "../../../src/engine/context/cut-steps.ts"

test("a step is a quarter of what a request may take, also where the room in it changes a little", () => {
  expect([4_900, 5_000, 5_100].map(tokens => roomOf(tokens, 6_000))).toEqual(
    [4_900, 5_000, 5_100].map(tokens => ({ tokens, stepTokens: 1_500 })),
  )
})

test("a step never takes more than half of the room", () => {
  expect(roomOf(1_000, 6_000)).toEqual({ tokens: 1_000, stepTokens: 500 })
  expect(roomOf(-10, 6_000)).toEqual({ tokens: 0, stepTokens: 0 })
})

test("what has to go is made whole steps of", () => {
  const room = roomOf(5_000, 6_000)
  expect([1, 1_500, 1_501].map(excess => cutInSteps(excess, room))).toEqual([1_500, 1_500, 3_000])
  expect(cutInSteps(123, roomOf(0, 0))).toBe(123)
})
