import { describe, expect, test } from "bun:test"
import { describeDifference, nearestLines } from "../../../src/workspace/change/nearest-lines.ts"
import { TextLines } from "../../../src/workspace/change/text-lines.ts"

const linesOf = (...lines: readonly string[]) => new TextLines(lines.join("\n"))
const file = linesOf(
  ...["import a from 'a'", "", "function add(a, b) {", "  return a + b", "}", "", "export { add }"],
)

describe("the nearest place", () => {
  test("is the exact one where there is one", () => {
    expect(nearestLines(file, ["  return a + b", "}"])).toEqual({ start: 3, likeness: 1 })
  })

  test("is where most of the lines are alike", () => {
    expect(nearestLines(file, ["function add(x, y) {", "  return x + y", "}"])?.start).toBe(2)
  })

  test("ignores white space", () => {
    expect(nearestLines(file, ["\treturn a  + b"])?.start).toBe(3)
  })

  test("is none when nothing is alike, or nothing is there", () => {
    expect(nearestLines(file, ["something else entirely"])).toBeNull()
    expect(nearestLines(linesOf(), ["x"])).toBeNull()
    expect(nearestLines(file, [])).toBeNull()
  })

  test("of many lines is judged by the first of them", () => {
    const wanted = ["function add(a, b) {", ...Array.from({ length: 100 }, () => "zzz")]
    expect(nearestLines(new TextLines("other\n".repeat(50)), wanted)).toBeNull()
  })
})

describe("the difference", () => {
  test("has the numbers of the file and both versions", () => {
    expect(describeDifference(file, 2, ["function add(a, b) {", "  return a - b", "}"])).toBe(
      ["3   function add(a, b) {", "4 -   return a + b", "  +   return a - b", "5   }"].join("\n"),
    )
  })

  test("aligns numbers of different width", () => {
    const long = linesOf(...Array.from({ length: 12 }, (_, index) => `line ${index + 1}`))
    expect(describeDifference(long, 8, ["line 9", "line X"])).toBe(" 9   line 9\n10 - line 10\n   + line X")
  })

  test("shows white space only where it is what differs", () => {
    expect(describeDifference(linesOf("a  "), 0, ["a"])).toBe("1 - a··\n  + a")
    expect(describeDifference(linesOf("\ta b"), 0, ["\tc d"])).toBe("1 - \ta b\n  + \tc d")
  })

  test("cuts a line that would be most of the message", () => {
    const told = describeDifference(linesOf("a".repeat(1_000_000)), 0, ["b"])
    expect(told).toContain("… (1000000 characters)")
    expect(told.length).toBeLessThan(500)
  })
})
