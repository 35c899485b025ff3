import { describe, expect, test } from "bun:test"
import { preconditions } from "../../../src/domain/plan/plan.ts"
import { readPrecondition } from "../../../src/domain/plan/rules.ts"

describe("a precondition", () => {
  test.each([...preconditions])("%s is itself", name => {
    expect(readPrecondition(name)).toBe(name)
  })

  test.each([
    ["file exists", "file_exists"],
    ["file present", "file_exists"],
    ["Cargo project exists", "project_exists"],
    ["Cargo workspace exists", "project_exists"],
    ["project exists", "project_exists"],
    ["codegraph.db exists", "index_exists"],
    ["index exists", "index_exists"],
    ["symbol exists", "symbol_exists"],
    ["root exists", "root_exists"],
    ["none", "none"],
    ["", "none"],
  ])("in the older spelling %j means %s", (written, meant) => {
    expect(readPrecondition(written)).toBe(meant as ReturnType<typeof readPrecondition>)
  })

  test("is read without regard to case and blanks", () => {
    for (const written of [
      "File Exists",
      "  file   exists ",
      "FILE_EXISTS",
      "file\texists",
      "File_ exists\n",
    ])
      expect(readPrecondition(written), written).toBe("file_exists")
  })

  test("that is left out or null is none", () => {
    expect(readPrecondition(undefined)).toBe("none")
    expect(readPrecondition(null)).toBe("none")
  })

  test.each([
    "file",
    "exists",
    "file exists!",
    "file does not exist",
    "fileexists",
    "not none",
    "constructor",
    "true",
    "f\u0456le exists",
  ])("%j is not on the list and does not pass as none", written => {
    expect(readPrecondition(written)).toBeNull()
  })
})
