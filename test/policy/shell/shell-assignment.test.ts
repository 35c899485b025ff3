import { describe, expect, test } from "bun:test"
import { commandsOf, refusalOf, unmarked } from "../policy-kit.ts"

const assignmentsOf = (text: string) =>
  commandsOf(text).flatMap(command =>
    command.assignments.map(({ name, value }) => `${name}=${unmarked(value)}`),
  )

describe("an assignment", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["A=1", "A=1"],
    ["A=", "A="],
    ["A='b c'", "A=b c"],
    ['A="$b"', "A={?}"],
    ["A=$b", "A={??}"],
    ["A=$(b)", "A={??}"],
    ["A=~/x", "A={~}/x"],
    ["A=-1", "A=-1"],
    ["a_b=x", "a_b=x"],
  ]
  test.each(rows)("%s", (text, expected) => {
    expect(assignmentsOf(text)).toEqual([expected])
  })

  test("before a command belongs to it", () => {
    expect(assignmentsOf("A=1 B=2 c D=3")).toEqual(["A=1", "B=2"])
  })

  test("to an element or of a list is known by its name only", () => {
    expect(assignmentsOf("a[1]=2")).toEqual(["a={?}"])
    expect(assignmentsOf("a=(b c)")).toEqual(["a={?}"])
    expect(assignmentsOf("a+=b")).toEqual(["a={?}"])
  })

  test("of a list is read for the commands in it", () => {
    expect(commandsOf("a=($(b))").map(command => command.words)).toEqual([[], ["b"]])
  })

  test("does not go on after a gap", () => {
    expect(commandsOf("A= b")[0]).toMatchObject({ words: ["b"], assignments: [{ name: "A", value: "" }] })
    expect(refusalOf("A =b")).toBeNull()
    expect(assignmentsOf("A =b")).toEqual([])
  })
})
