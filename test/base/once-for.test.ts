import { expect, test } from "bun:test"
import { onceFor } from "../../src/base/lazy.ts"

test("what is worked out for an object is worked out once, and for each object by itself", () => {
  const asked: object[] = []
  const sizeOf = onceFor((list: readonly number[]) => {
    asked.push(list)
    return list.length === 0 ? undefined : list.length
  })
  const [some, none, like] = [[1, 2], [], [1, 2]]
  expect([sizeOf(some), sizeOf(none), sizeOf(some), sizeOf(none), sizeOf(like)]).toEqual([
    2,
    undefined,
    2,
    undefined,
    2,
  ])
  expect(asked).toHaveLength(3)
})
