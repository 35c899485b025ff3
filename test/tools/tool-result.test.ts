import { afterEach, beforeEach, expect, test } from "bun:test"
import type { CallError } from "../../src/domain/tool-call.ts"
import { preparedRead, toolResult } from "../../src/tools/tool-result.ts"
import { quietly, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom({ limits: { viewBytesMax: 100 } })
})
afterEach(() => t[Symbol.dispose]())

const given = { value: null, text: "", paths: [] }

test("a plain success has nothing to tell but what it is given", () => {
  expect(toolResult(t.room, { value: 1, text: "one", paths: ["a"] })).toEqual({
    value: 1,
    text: "one",
    paths: ["a"],
    error: null,
    exitCode: null,
    executionId: null,
    changes: [],
    diagnostics: [],
  })
})

test("an error is a diagnostic of its place, with the line where there is one", () => {
  const error = (where: string | null): CallError => ({
    code: "ACODE-FS-001",
    message: "no",
    where,
    hint: null,
  })
  const place = (where: string | null) => {
    const [first] = toolResult(t.room, { ...given, error: error(where) }).diagnostics
    return [first?.file_name, first?.line_start, first?.code, first?.level]
  }
  expect(place("src/a.ts:12")).toEqual(["src/a.ts", 12, "ACODE-FS-001", "error"])
  expect(place("src/a.ts")).toEqual(["src/a.ts", 0, "ACODE-FS-001", "error"])
  expect(place(null)).toEqual(["", 0, "ACODE-FS-001", "error"])
})

test("a secret is gone before the text is cut, so that no cut can show half of it", () => {
  for (let before = 0; before < 60; before++) {
    const text = `${"x".repeat(before)} password=hunter2xyz9abc ${"y".repeat(200)}`
    const shown = toolResult(t.room, { ...given, text }).text
    expect(shown).not.toContain("hunter")
    expect(shown).not.toContain("xyz9")
  }
})

test("a read has no targets and binds nothing", async () => {
  const prepared = preparedRead("look", async () => toolResult(t.room, given))
  expect(prepared).toMatchObject({ targets: [], preview: "look" })
  expect(prepared.subject).toEqual({ argv: [], cwd: ".", environment: {} })
  expect((await prepared.execute(quietly)).value).toBeNull()
})
