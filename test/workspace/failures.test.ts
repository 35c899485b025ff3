import { describe, expect, test } from "bun:test"
import { Failure } from "../../src/domain/failure.ts"
import {
  errnoName,
  fileFailure,
  onPath,
  outsideWorkspace,
  systemFailure,
} from "../../src/workspace/failures.ts"
import { codeOf } from "./support.ts"

const systemError = (code: string) => Object.assign(new Error(code), { code })

describe("an error of the system becomes a failure with a code of its own", () => {
  const cases: [string, string][] = [
    ["ENOENT", "ACODE-FS-002"],
    ["ENOTDIR", "ACODE-FS-002"],
    ["EISDIR", "ACODE-FS-003"],
    ["EACCES", "ACODE-FS-005"],
    ["EPERM", "ACODE-FS-005"],
    ["EFBIG", "ACODE-FS-006"],
    ["EAGAIN", "ACODE-FS-007"],
    ["EEXIST", "ACODE-FS-008"],
    ["ENOSPC", "ACODE-FS-010"],
    ["EDQUOT", "ACODE-FS-010"],
    ["EROFS", "ACODE-FS-010"],
    ["EIO", "ACODE-FS-010"],
    ["EMFILE", "ACODE-FS-010"],
    ["ENAMETOOLONG", "ACODE-FS-001"],
  ]
  for (const [errno, code] of cases)
    test(errno, () => {
      const step = () =>
        onPath("a/b", () => {
          throw systemError(errno)
        })
      expect(codeOf(step)).toBe(code)
    })
})

test("a failure and a bug continue as they are", () => {
  const failure = outsideWorkspace("x")
  const bug = new TypeError("bug")
  expect(systemFailure(failure, "p")).toBe(failure)
  expect(systemFailure(bug, "p")).toBe(bug)
})

test("every failure says what, where, the code and what to do, and nothing a terminal would act on", () => {
  const { report } = fileFailure("missing", "a\u001b[31m", "does not exist")
  expect(report).toEqual({
    kind: "general",
    code: "ACODE-FS-002",
    message: '"a\\033[31m" does not exist',
    where: '"a\\033[31m"',
    hint: "list the directory to see what is there",
  })
  expect(outsideWorkspace("/etc").report).toMatchObject({ kind: "confinement", code: "ACODE-SEC-005" })
  expect(outsideWorkspace("/etc")).toBeInstanceOf(Failure)
})

test("numbers of the system have names", () => {
  expect(errnoName(2)).toBe("ENOENT")
  expect(errnoName(9999)).toBe("errno 9999")
})
