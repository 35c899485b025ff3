import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  assertLocalFileSystem,
  assertStateDirectory,
  prepareStateDirectory,
} from "../../src/store/state-directory.ts"
import { codeOf, failureOf } from "./support/store-fixture.ts"

function places() {
  const directory = mkdtempSync(join(tmpdir(), "acode-state-"))
  const agent = join(directory, ".agent")
  return {
    directory,
    agent,
    database: join(agent, "workspace.db"),
    artifacts: join(agent, "artifacts"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

describe("the place of the database", () => {
  test("is made for this user alone", () => {
    using at = places()
    prepareStateDirectory(at.database, at.artifacts)
    expect(statSync(at.agent).mode & 0o777).toBe(0o700)
    expect(statSync(at.database).mode & 0o777).toBe(0o600)
  })

  test("is left as it is when it exists", () => {
    using at = places()
    mkdirSync(at.agent)
    writeFileSync(at.database, "content")
    prepareStateDirectory(at.database, at.artifacts)
    expect(statSync(at.database).size).toBe(7)
  })

  test("is refused when a link stands for the directory, the database or the artifacts", () => {
    for (const linked of ["agent", "database", "artifacts"] as const) {
      using at = places()
      mkdirSync(join(at.directory, "elsewhere"))
      if (linked !== "agent") mkdirSync(at.agent)
      symlinkSync(join(at.directory, "elsewhere"), at[linked])
      const failure = failureOf(() => prepareStateDirectory(at.database, at.artifacts))
      expect([failure.report.code, failure.report.where]).toEqual(["ACODE-SEC-006", at[linked]])
      expect(existsSync(join(at.directory, "elsewhere", "workspace.db"))).toBe(false)
    }
  })

  test("a dangling link is refused too, and nothing appears where it points", () => {
    using at = places()
    mkdirSync(at.agent)
    symlinkSync(join(at.directory, "nowhere"), at.database)
    expect(codeOf(() => prepareStateDirectory(at.database, at.artifacts))).toBe("ACODE-SEC-006")
    expect(existsSync(join(at.directory, "nowhere"))).toBe(false)
  })

  test("a reader creates nothing", () => {
    using at = places()
    const failure = failureOf(() => assertStateDirectory(at.database, at.artifacts))
    expect(failure.report.code).toBe("ACODE-DB-001")
    expect(failure.report.message).toContain("nothing has been recorded")
    expect(existsSync(at.agent)).toBe(false)
  })

  test("a reader refuses links as well", () => {
    using at = places()
    mkdirSync(at.agent)
    symlinkSync("/etc/hostname", at.database)
    expect(codeOf(() => assertStateDirectory(at.database, at.artifacts))).toBe("ACODE-SEC-006")
  })
})

describe("file systems", () => {
  test("a local one is accepted", () => {
    expect(() => assertLocalFileSystem(tmpdir())).not.toThrow()
    expect(() => assertLocalFileSystem("/x", () => 0xef53)).not.toThrow()
  })

  test.each([
    [0x6969, "nfs"],
    [0xff534d42, "cifs"],
    [0xfe534d42, "smb2"],
    [0x01021997, "9p"],
  ])("%d is refused as %s", (type, name) => {
    const failure = failureOf(() => assertLocalFileSystem("/mnt/share", () => type))
    expect(failure.report.code).toBe("ACODE-DB-008")
    expect(failure.report.message).toContain(name)
    expect(failure.report.where).toBe("/mnt/share")
  })
})
