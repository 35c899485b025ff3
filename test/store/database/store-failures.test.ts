import { describe, expect, test } from "bun:test"
import type { ErrorCode } from "../../../src/domain/error-codes.ts"
import { Failure } from "../../../src/domain/failure.ts"
import {
  appendConflict,
  asStoreFailure,
  brokenArtifact,
  missingArtifact,
  unreadableArtifact,
  unsafeState,
} from "../../../src/store/database/store-failures.ts"

function thrown(code: string): Error {
  return Object.assign(new Error(`it says ${code}`), { code })
}

function reportOf(code: string) {
  const failure = asStoreFailure(thrown(code), ".agent/workspace.db")
  if (!(failure instanceof Failure)) throw new Error(`${code} is not mapped`)
  return failure.report
}

describe("errors of SQLite and of the file system", () => {
  const cases: [string, ErrorCode][] = [
    ["SQLITE_BUSY", "ACODE-DB-002"],
    ["SQLITE_BUSY_RECOVERY", "ACODE-DB-002"],
    ["SQLITE_BUSY_SNAPSHOT", "ACODE-DB-002"],
    ["SQLITE_LOCKED", "ACODE-DB-002"],
    ["SQLITE_READONLY", "ACODE-DB-003"],
    ["SQLITE_READONLY_DIRECTORY", "ACODE-DB-003"],
    ["EROFS", "ACODE-DB-003"],
    ["EACCES", "ACODE-DB-003"],
    ["SQLITE_FULL", "ACODE-DB-004"],
    ["SQLITE_IOERR_SHMSIZE", "ACODE-DB-004"],
    ["ENOSPC", "ACODE-DB-004"],
    ["EDQUOT", "ACODE-DB-004"],
    ["SQLITE_CORRUPT", "ACODE-DB-005"],
    ["SQLITE_CORRUPT_INDEX", "ACODE-DB-005"],
    ["SQLITE_NOTADB", "ACODE-DB-005"],
    ["SQLITE_CANTOPEN", "ACODE-DB-001"],
    ["SQLITE_IOERR_FSYNC", "ACODE-DB-001"],
    ["EIO", "ACODE-DB-001"],
    ["EMFILE", "ACODE-SYS-001"],
    ["EISDIR", "ACODE-DB-001"],
  ]

  test.each(cases)("%s is %s", (code, expected) => {
    const report = reportOf(code)
    expect(report.code).toBe(expected)
    expect(report.message).toContain(`it says ${code}`)
    expect(report.where).toBe(".agent/workspace.db")
    expect(report.hint?.length).toBeGreaterThan(10)
  })

  test("damage exits as a failed integrity check, the rest as a general failure", () => {
    expect(reportOf("SQLITE_CORRUPT").kind).toBe("integrity")
    expect(reportOf("SQLITE_BUSY").kind).toBe("general")
  })

  test("the reason is kept for anyone who debugs", () => {
    const cause = thrown("SQLITE_BUSY")
    expect(asStoreFailure(cause, "x")).toHaveProperty("cause", cause)
  })

  test("a failure passes as it is, and a bug stays a bug", () => {
    const failure = appendConflict("exe_a", "because")
    expect(asStoreFailure(failure, "x")).toBe(failure)
    const bug = new TypeError("undefined is not a function")
    expect(asStoreFailure(bug, "x")).toBe(bug)
    const constraint = thrown("SQLITE_CONSTRAINT_UNIQUE")
    expect(asStoreFailure(constraint, "x")).toBe(constraint)
  })
})

describe("failures of the store itself", () => {
  test("each names what it is about and what to do", () => {
    const failures = [
      appendConflict("exe_a", "its last event is number 2, not 1"),
      unsafeState("/data/keys", "others can write there", "chmod 700 /data/keys"),
      brokenArtifact("sha256:00"),
      missingArtifact("sha256:01"),
      unreadableArtifact("sha256:02", new SyntaxError("unexpected end")),
    ]
    expect(failures.map(({ report }) => [report.code, report.where])).toEqual([
      ["ACODE-DB-007", "exe_a"],
      ["ACODE-SEC-006", "/data/keys"],
      ["ACODE-SEC-004", "sha256:00"],
      ["ACODE-SEC-004", "sha256:01"],
      ["ACODE-SEC-004", "sha256:02"],
    ])
    expect(failures.every(({ report }) => (report.hint ?? "") !== "")).toBe(true)
  })
})
