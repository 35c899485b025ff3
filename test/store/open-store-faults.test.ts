import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { storeChild } from "./support/children.ts"
import {
  codeOf,
  failureOf,
  nextId,
  recordOf,
  runOne,
  startOf,
  storeFixture,
} from "./support/store-fixture.ts"

describe("a locked database", () => {
  test("is reported after the wait, and usable when the lock is gone", () => {
    using fixture = storeFixture({ onDisk: true })
    const store = fixture.open({ busyTimeoutMs: 30 })
    using holder = new Database(fixture.options.databasePath)
    holder.run("BEGIN IMMEDIATE")
    expect(codeOf(() => runOne(store))).toBe("ACODE-DB-002")
    expect(codeOf(() => store.anchor())).toBe("ACODE-DB-002")
    expect(store.executions.list({})).toEqual([])
    holder.run("ROLLBACK")
    runOne(store)
    expect(store.verify()).toMatchObject({ ok: true, events: 2 })
  })

  test("can be opened and read while someone writes", () => {
    using fixture = storeFixture({ onDisk: true })
    runOne(fixture.open())
    using holder = new Database(fixture.options.databasePath)
    holder.run("BEGIN IMMEDIATE")
    const late = fixture.open({ busyTimeoutMs: 30 })
    expect(late.executions.list({})).toHaveLength(1)
    expect(late.executions.recover(() => true)).toEqual([])
  })

  test("an outcome that could not be written can be written later", () => {
    using fixture = storeFixture({ onDisk: true })
    const store = fixture.open({ busyTimeoutMs: 30 })
    const id = nextId()
    store.executions.started(startOf(id))
    using holder = new Database(fixture.options.databasePath)
    holder.run("BEGIN IMMEDIATE")
    const settle = () => store.executions.settled(recordOf(id), { stdout: null, stderr: null })
    expect(codeOf(settle)).toBe("ACODE-DB-002")
    holder.run("ROLLBACK")
    settle()
    expect(store.executions.show(id)).toEqual(recordOf(id))
  })
})

const namespaces =
  missingProgram("unshare") ?? (process.getuid?.() === 0 ? null : "only root mounts file systems")
const withMounts = testWhere(namespaces)

/** Runs a child where `script` has mounted something; the mounts go with it. */
const mounted = (script: string) => ["unshare", "--mount", "sh", "-ec", `${script}; exec "$@"`, "sh"]

describe("a full disk", () => {
  withMounts("is told, what was acknowledged is kept, and the store works again", async () => {
    using fixture = storeFixture({ onDisk: true })
    const agent = dirname(fixture.options.databasePath)
    const kept = join(fixture.directory, "kept")
    mkdirSync(agent)
    mkdirSync(kept)
    const wrap = mounted(
      `mount -t tmpfs -o size=1m tmpfs ${agent}; trap 'cp -a ${agent}/. ${kept}/' EXIT; "$@"; exit $?`,
    )
    const child = await storeChild(fixture.directory, "fill", 0, "", wrap)
    const { code, acknowledged } = child.answer as { code: string; acknowledged: string[] }
    expect(code).toBe("ACODE-DB-004")
    expect(acknowledged.length).toBeGreaterThan(5)
    const store = fixture.open({
      databasePath: join(kept, "workspace.db"),
      artifactsDirectory: join(kept, "artifacts"),
    })
    const recorded = store.executions.list({ failed: false }).map(row => row.id)
    expect(recorded.sort()).toEqual(acknowledged.sort())
    expect(store.verify().ok).toBe(true)
    runOne(store)
    expect(store.verify().ok).toBe(true)
  })
})

describe("state that cannot be written", () => {
  withMounts("on a read-only file system is told before anything runs", async () => {
    using fixture = storeFixture({ onDisk: true })
    fixture.open()[Symbol.dispose]()
    const agent = dirname(fixture.options.databasePath)
    const wrap = mounted(`mount --bind ${agent} ${agent}; mount -o remount,ro,bind ${agent}`)
    const child = await storeChild(fixture.directory, "run", 1, "", wrap)
    expect(child.answer).toEqual({ code: "ACODE-DB-003" })
  })

  withMounts("in a workspace that never had any is told too", async () => {
    using fixture = storeFixture({ onDisk: true })
    const root = fixture.options.stateDirectory
    const wrap = mounted(`mount --bind ${root} ${root}; mount -o remount,ro,bind ${root}`)
    const child = await storeChild(fixture.directory, "run", 1, "", wrap)
    expect(child.answer).toEqual({ code: "ACODE-DB-003" })
  })
})

describe("a damaged database", () => {
  const closed = () => {
    const fixture = storeFixture({ onDisk: true })
    const store = fixture.open()
    for (let count = 0; count < 40; count++) runOne(store)
    store[Symbol.dispose]()
    return fixture
  }

  test("that is not a database is refused and left as it is", () => {
    using fixture = closed()
    const text = "not a database, but long enough to be taken for one ".repeat(20)
    writeFileSync(fixture.options.databasePath, text)
    expect(failureOf(() => fixture.open()).report).toMatchObject({ code: "ACODE-DB-005", kind: "integrity" })
    expect(readFileSync(fixture.options.databasePath, "utf8")).toBe(text)
  })

  test("that was cut in the middle is found out, at the latest by the audit", () => {
    using fixture = closed()
    truncateSync(fixture.options.databasePath, Math.floor(statSync(fixture.options.databasePath).size / 2))
    expect(codeOf(() => fixture.open().verify())).toBe("ACODE-DB-005")
  })

  test("with bytes overwritten in any page is never taken for sound", () => {
    using fixture = closed()
    const { databasePath } = fixture.options
    const sound = readFileSync(databasePath)
    const pages = sound.length / 4096
    const passed = Array.from({ length: pages }, (_, page) => page).filter(page => {
      const broken = Buffer.from(sound)
      broken.fill(0xaa, page * 4096 + (page === 0 ? 100 : 0), page * 4096 + 2048)
      rmSync(`${databasePath}-wal`, { force: true })
      writeFileSync(databasePath, broken)
      try {
        using store = fixture.open()
        return store.verify().ok && store.fileProblems().length === 0
      } catch {
        // Refused: SQLite or acode found the damage.
        return false
      }
    })
    expect(passed).toEqual([])
  })

  test("of a newer version is refused, and of another program too", () => {
    using fixture = closed()
    using db = new Database(fixture.options.databasePath)
    db.run("PRAGMA user_version = 99")
    expect(codeOf(() => fixture.open())).toBe("ACODE-DB-006")
    expect(codeOf(() => fixture.open({ readOnly: true }))).toBe("ACODE-DB-006")
    db.run("PRAGMA user_version = 1; PRAGMA application_id = 7")
    expect(codeOf(() => fixture.open())).toBe("ACODE-DB-005")
  })

  test("replaced by a directory or a link is refused", () => {
    using fixture = closed()
    const { databasePath } = fixture.options
    rmSync(databasePath)
    mkdirSync(databasePath)
    expect(codeOf(() => fixture.open())).toBe("ACODE-DB-001")
    rmSync(databasePath, { recursive: true })
    symlinkSync("/etc/hostname", databasePath)
    expect(codeOf(() => fixture.open())).toBe("ACODE-SEC-006")
  })

  test("whose key others can read is not opened until that is mended", () => {
    using fixture = closed()
    const store = fixture.open()
    const path = join(fixture.options.keysDirectory, `${store.workspaceId}.key`)
    chmodSync(path, 0o644)
    expect(codeOf(() => fixture.open())).toBe("ACODE-SEC-006")
    chmodSync(path, 0o600)
    expect(fixture.open().verify().ok).toBe(true)
  })
})
