import { describe, expect, test } from "bun:test"
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { noFaults } from "../../../src/base/faults.ts"
import { openDatabase } from "../../../src/store/database/database.ts"
import { migrate } from "../../../src/store/database/migrations.ts"
import { firstHead } from "../../../src/store/log/chain.ts"
import { createKey } from "../../../src/store/log/keys.ts"
import { openLogIdentity } from "../../../src/store/log/log-identity.ts"
import { prepareStateDirectory } from "../../../src/store/state-directory.ts"
import { codeOf, failureOf, runOne, storeFixture } from "../support/store-fixture.ts"

function openLog(fixture: ReturnType<typeof storeFixture>, readOnly = false) {
  const { databasePath, artifactsDirectory } = fixture.options
  prepareStateDirectory(databasePath, artifactsDirectory)
  const connection = openDatabase({ path: databasePath, readOnly, busyTimeoutMs: 1000, faults: noFaults })
  if (!readOnly) migrate(connection, () => "2026-01-02T03:04:05.678Z")
  return connection
}

describe("the identity of a log", () => {
  test("is made once and found again", () => {
    using fixture = storeFixture()
    using connection = openLog(fixture)
    const made = openLogIdentity(connection, fixture.options.keysDirectory, noFaults)
    expect(openLogIdentity(connection, fixture.options.keysDirectory, noFaults)).toEqual(made)
    expect(made.workspaceId).toMatch(/^wsp_[0-9a-f-]{36}$/)
    expect(readdirSync(fixture.options.keysDirectory)).toEqual([`${made.workspaceId}.key`])
    expect(connection.db.query("SELECT position, head FROM log_head").get()).toEqual({
      position: 0,
      head: firstHead(made.key, made.workspaceId),
    })
  })

  test("a log whose key is gone is not opened", () => {
    using fixture = storeFixture()
    fixture.open()[Symbol.dispose]()
    rmSync(fixture.options.keysDirectory, { recursive: true })
    expect(failureOf(() => fixture.open()).report).toMatchObject({ code: "ACODE-SEC-001", kind: "integrity" })
  })

  test("a log whose key was replaced is not opened", () => {
    using fixture = storeFixture()
    const { workspaceId } = fixture.open()
    const path = join(fixture.options.keysDirectory, `${workspaceId}.key`)
    rmSync(path)
    createKey(fixture.options.keysDirectory, workspaceId, noFaults)
    expect(failureOf(() => fixture.open()).report).toMatchObject({
      code: "ACODE-SEC-002",
      kind: "integrity",
      where: path,
    })
  })

  test("a log that names a key outside the directory is not opened", () => {
    using fixture = storeFixture()
    fixture.open()[Symbol.dispose]()
    writeFileSync(join(fixture.directory, "data", "stolen.key"), new Uint8Array(32), { mode: 0o600 })
    using connection = openLog(fixture)
    connection.db.run("UPDATE log_head SET workspace_id = '../stolen'")
    expect(codeOf(() => openLogIdentity(connection, fixture.options.keysDirectory, noFaults))).toBe(
      "ACODE-SEC-001",
    )
  })

  test("events without a head are not taken for a new log", () => {
    using fixture = storeFixture()
    runOne(fixture.open())
    using connection = openLog(fixture)
    connection.db.run("DELETE FROM log_head")
    expect(codeOf(() => openLogIdentity(connection, fixture.options.keysDirectory, noFaults))).toBe(
      "ACODE-SEC-004",
    )
  })

  test("a reader makes none", () => {
    using fixture = storeFixture()
    openLog(fixture)[Symbol.dispose]()
    using connection = openLog(fixture, true)
    expect(codeOf(() => openLogIdentity(connection, fixture.options.keysDirectory, noFaults))).toBe(
      "ACODE-DB-001",
    )
  })
})
