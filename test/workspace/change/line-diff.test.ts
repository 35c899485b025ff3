import { expect, test } from "bun:test"
import fc from "fast-check"
import { diffLines } from "../../../src/workspace/change/line-diff.ts"

const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 25 })

/** The length of the longest common subsequence, the slow and certain way. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const row = table[i] ?? []
      row[j] =
        a[i] === b[j]
          ? (table[i + 1]?.[j + 1] ?? 0) + 1
          : Math.max(table[i + 1]?.[j] ?? 0, table[i]?.[j + 1] ?? 0)
    }
  return table[0]?.[0] ?? 0
}

test("the steps lead from the old lines to the new ones and keep as many as can be kept", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const steps = diffLines(before, after)
      const olds = steps.flatMap(step => (step.kind === "add" ? [] : [step.oldIndex]))
      const news = steps.flatMap(step => (step.kind === "remove" ? [] : [step.newIndex]))
      expect(olds).toEqual(before.map((_, index) => index))
      expect(news).toEqual(after.map((_, index) => index))
      const kept = steps.filter(step => step.kind === "keep")
      for (const step of kept) expect(before[step.oldIndex] === after[step.newIndex]).toBe(true)
      expect(kept.length).toBe(commonLength(before, after))
    }),
    { numRuns: 2000 },
  )
})

test("texts that have nothing in common are replaced as a whole, in bounded time", () => {
  const before = Array.from({ length: 5000 }, (_, index) => `old ${index}`)
  const after = Array.from({ length: 5000 }, (_, index) => `new ${index}`)
  const steps = diffLines(before, after)
  expect(steps).toHaveLength(10_000)
  expect(steps.some(step => step.kind === "keep")).toBe(false)
})

test("a small change in a large file is found quickly", () => {
  const before = Array.from({ length: 100_000 }, (_, index) => `${index}`)
  const after = before.with(50_000, "changed").toSpliced(70_000, 1)
  expect(diffLines(before, after).filter(step => step.kind !== "keep")).toHaveLength(3)
})

test("many changes all over a large file are listed one by one", () => {
  const before = Array.from({ length: 100_000 }, (_, index) => (index % 3 === 0 ? "}" : `line ${index}`))
  const after = before.map((line, index) => (index % 25 === 1 ? `changed ${index}` : line))
  const changes = diffLines(before, after).filter(step => step.kind !== "keep")
  expect(changes).toHaveLength(2 * after.filter((line, index) => line !== before[index]).length)
})

test("millions of lines are compared, one at each end changed", () => {
  const before = Array.from({ length: 2_000_000 }, () => "same")
  const after = before.with(0, "first").with(-1, "last")
  expect(diffLines(before, after).filter(step => step.kind !== "keep")).toHaveLength(4)
})
