import { describe, expect, test } from "bun:test"
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import type { AuditReport, Store } from "../../src/store/contract.ts"
import { openStore } from "../../src/store/open-store.ts"
import { runOne, type StoreFixture, storeFixture, storeOptions } from "./support/store-fixture.ts"

const long = { result: { stdout: "artifact ".repeat(2000) } }

/** Opens the store for a moment; closed, its files can be copied as they are. */
function during<Result>(fixture: StoreFixture, work: (store: Store) => Result): Result {
  using store = openStore(fixture.options)
  return work(store)
}

const agentOf = (fixture: StoreFixture) => dirname(fixture.options.databasePath)

function putBack(fixture: StoreFixture, copy: string): void {
  rmSync(agentOf(fixture), { recursive: true })
  cpSync(copy, agentOf(fixture), { recursive: true })
}

describe("older copies of the database restored", () => {
  test("are found when something newer was anchored, whichever copy it is, and accepted otherwise", () => {
    using fixture = storeFixture()
    const copies: string[] = []
    for (let count = 0; count < 12; count++) {
      during(fixture, store => {
        runOne(store, count % 3 === 0 ? long : {})
        if (count === 7) store.anchor()
        if (count === 4) store.executions.prune({}, "age")
      })
      const copy = join(fixture.directory, `copy-${count}`)
      cpSync(agentOf(fixture), copy, { recursive: true })
      copies.push(copy)
    }
    const reports = copies.map((copy): AuditReport => {
      putBack(fixture, copy)
      return during(fixture, store => store.verify())
    })
    expect(reports.map(report => report.ok)).toEqual(copies.map((_, index) => index >= 7))
    expect(reports[0]?.problems).toEqual([
      {
        stream: null,
        seq: null,
        position: 3,
        what: expect.stringContaining("the log ends at position 2, but position 17 was anchored"),
      },
    ])
  })

  test("are found as long as the newer anchors are there, also when the log has grown past them", () => {
    using fixture = storeFixture()
    during(fixture, store => runOne(store))
    const copy = join(fixture.directory, "copy")
    cpSync(agentOf(fixture), copy, { recursive: true })
    during(fixture, store => {
      runOne(store)
      store.anchor()
    })
    putBack(fixture, copy)
    const grown = during(fixture, store => {
      for (let count = 0; count < 300; count++) {
        runOne(store)
        store.anchor()
      }
      return store.verify()
    })
    expect(grown.problems[0]).toMatchObject({
      position: 4,
      what: expect.stringContaining("up to here the log differs from the one that was anchored"),
    })
  }, 20_000)
})

describe("a database that disappears", () => {
  test("is missed when a new one stands in its place", () => {
    using fixture = storeFixture()
    const first = during(fixture, store => {
      runOne(store)
      store.anchor()
      return store.workspaceId
    })
    rmSync(agentOf(fixture), { recursive: true })
    const report = during(fixture, store => {
      runOne(store)
      store.anchor()
      return store.verify()
    })
    expect(report.ok).toBe(false)
    expect(report.problems[0]?.what).toContain("another history was anchored here")
    expect(report.problems[0]?.what).toContain(`${first}.jsonl`)
  })

  test("is not missed once a person says that it was intended", () => {
    using fixture = storeFixture()
    const first = during(fixture, store => {
      store.anchor()
      return store.workspaceId
    })
    rmSync(agentOf(fixture), { recursive: true })
    rmSync(join(fixture.options.anchorsDirectory, `${first}.jsonl`))
    expect(during(fixture, store => store.verify()).ok).toBe(true)
  })

  test("emptied to nothing it is a new one, and the old one is missed", () => {
    using fixture = storeFixture()
    during(fixture, store => {
      runOne(store)
      store.anchor()
    })
    rmSync(fixture.options.databasePath)
    expect(existsSync(fixture.options.databasePath)).toBe(false)
    expect(during(fixture, store => store.verify()).ok).toBe(false)
  })
})

describe("a workspace that is moved or copied", () => {
  const elsewhere = (fixture: StoreFixture) => {
    const root = join(fixture.directory, "elsewhere")
    return {
      root,
      options: storeOptions(fixture.directory, {
        stateDirectory: root,
        databasePath: join(root, ".agent", "workspace.db"),
        artifactsDirectory: join(root, ".agent", "artifacts"),
      }),
    }
  }

  test("moved, it keeps its anchors: an older copy is found in the new place too", () => {
    using fixture = storeFixture()
    during(fixture, store => runOne(store))
    const copy = join(fixture.directory, "copy")
    cpSync(agentOf(fixture), copy, { recursive: true })
    during(fixture, store => {
      runOne(store)
      store.anchor()
    })
    const { root, options } = elsewhere(fixture)
    renameSync(fixture.options.stateDirectory, root)
    using moved = openStore(options)
    expect(moved.verify()).toMatchObject({ ok: true, anchoredPosition: 4 })
    moved[Symbol.dispose]()
    rmSync(join(root, ".agent"), { recursive: true })
    cpSync(copy, join(root, ".agent"), { recursive: true })
    using restored = openStore(options)
    expect(restored.verify().ok).toBe(false)
  })

  test("copied, both go their own ways without raising an alarm", () => {
    using fixture = storeFixture()
    during(fixture, store => {
      runOne(store)
      store.anchor()
    })
    const { root, options } = elsewhere(fixture)
    mkdirSync(root)
    cpSync(agentOf(fixture), join(root, ".agent"), { recursive: true })
    using original = openStore(fixture.options)
    using copied = openStore(options)
    for (const store of [original, copied, copied, original]) {
      runOne(store)
      store.anchor()
    }
    expect(original.verify()).toMatchObject({ ok: true, events: 6, anchoredPosition: 6 })
    expect(copied.verify()).toMatchObject({ ok: true, events: 6, anchoredPosition: 6 })
  })
})
