import { describe, expect, test } from "bun:test"
import { resolveCall } from "../../src/gate/resolution.ts"

describe("from a name to a call", () => {
  test("the tool's own name passes the very arguments on", () => {
    const args = { path: "a.txt" }
    const resolved = resolveCall("read_file", args)
    expect(resolved).toMatchObject({ kind: "tool", tool: { name: "read_file" } })
    expect(resolved.kind === "tool" && resolved.arguments === args).toBe(true)
  })

  test("a plan's name means the same tool, with the tool's names for the arguments", () => {
    expect(resolveCall("file_write", { path: "a", contents: "c" })).toMatchObject({
      kind: "tool",
      tool: { name: "write_file" },
      arguments: { path: "a", content: "c" },
    })
  })

  test("a name nobody knows is E201, printed so that it can do no harm", () => {
    expect(resolveCall("evil\u001b[2J", {})).toMatchObject({
      kind: "problem",
      canonical: null,
      error: { code: "E201", message: "unknown tool evil\\x1b[2J", hint: null },
    })
  })

  test("a name that is known and not callable is E201 with the reason", () => {
    expect(resolveCall("finish_step", {})).toMatchObject({ kind: "problem", error: { code: "E201" } })
  })

  test("a missing argument is E202, a wrong one ACODE-EXEC-007", () => {
    expect(resolveCall("read_file", {})).toMatchObject({
      canonical: "read_file",
      error: { code: "E202", message: "read_file: path is required" },
    })
    expect(resolveCall("read_file", { path: 1 })).toMatchObject({
      error: { code: "ACODE-EXEC-007", message: "read_file: path must be text" },
    })
  })

  test("arguments that are no object are wrong as a whole", () => {
    for (const args of [null, [], "path", 3])
      expect(resolveCall("read_file", args)).toMatchObject({
        kind: "problem",
        error: { message: expect.stringContaining("arguments must be an object") },
      })
  })

  test("names of the language are no tools", () => {
    for (const name of ["constructor", "__proto__", "toString", ""])
      expect(resolveCall(name, {})).toMatchObject({ kind: "problem", error: { code: "E201" } })
  })
})
