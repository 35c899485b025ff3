import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { noFaults } from "../../../src/base/faults.ts"
import { artifactPath } from "../../../src/store/artifacts/artifacts.ts"
import { artifactTotals, collectArtifacts } from "../../../src/store/artifacts/collection.ts"
import { openDatabase } from "../../../src/store/database/database.ts"
import { nextId, recordOf, startOf, storeFixture } from "../support/store-fixture.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

function collecting() {
  const fixture = storeFixture()
  const store = fixture.open()
  const { artifactsDirectory: directory, databasePath: path } = fixture.options
  const connection = openDatabase({ path, readOnly: false, busyTimeoutMs: 100, faults: noFaults })
  const age = (file: string, ms: number) => utimesSync(file, ms / 1000, ms / 1000)
  return {
    fixture,
    store,
    directory,
    age,
    isThere: (ref: string) => existsSync(artifactPath(directory, ref)),
    collect: (candidates: readonly string[], olderThanMs: number, referencedAtMs = fixture.clock.now()) =>
      collectArtifacts(
        connection,
        directory,
        candidates.map(ref => ({ ref, referencedAtMs })),
        olderThanMs,
      ),
    [Symbol.dispose]: () => {
      connection[Symbol.dispose]()
      fixture[Symbol.dispose]()
    },
  }
}

/** An execution that names an artifact with this content; gives the name. */
function named({ store }: ReturnType<typeof collecting>, content: string): string {
  const id = nextId()
  const ref = store.artifacts.put(bytes(content))
  store.executions.started(startOf(id))
  const record = recordOf(id, { result: { artifacts: { stdout: ref, stderr: null } } })
  store.executions.settled(record, { stdout: bytes(content), stderr: null })
  return ref
}

describe("collecting artifacts", () => {
  test("removes a candidate that nothing names, whatever its age", () => {
    using at = collecting()
    const ref = at.store.artifacts.put(bytes("orphan"))
    at.collect([ref], 0)
    expect(at.isThere(ref)).toBe(false)
  })

  test("leaves one that was put again after it was named, until it is old", () => {
    using at = collecting()
    const { clock } = at.fixture
    const referencedAtMs = clock.now()
    const ref = at.store.artifacts.put(bytes("seen again"))
    clock.advance(1)
    at.store.artifacts.put(bytes("seen again"))
    at.collect([ref], clock.now(), referencedAtMs)
    expect(at.isThere(ref)).toBe(true)
    at.collect([ref], clock.now() + 1, referencedAtMs)
    expect(at.isThere(ref)).toBe(false)
  })

  test("keeps a candidate that something still names", () => {
    using at = collecting()
    const ref = named(at, "needed")
    at.collect([ref], Number.MAX_SAFE_INTEGER)
    expect(at.isThere(ref)).toBe(true)
  })

  test("removes what a crash left behind once it is old, and not before", () => {
    using at = collecting()
    const [young, old] = [at.store.artifacts.put(bytes("young")), at.store.artifacts.put(bytes("old"))]
    at.age(artifactPath(at.directory, young), 5_000)
    at.age(artifactPath(at.directory, old), 4_000)
    at.collect([], 5_000)
    expect([at.isThere(young), at.isThere(old)]).toEqual([true, false])
  })

  test("removes files whose writing never ended, and touches nothing it does not know", () => {
    using at = collecting()
    const shelf = dirname(artifactPath(at.directory, named(at, "needed")))
    const files = [".aside-1", "readme.txt"].map(name => join(shelf, name))
    const stray = join(at.directory, "stray")
    mkdirSync(stray)
    for (const file of [...files, join(stray, "a".repeat(62))]) {
      writeFileSync(file, "x")
      at.age(file, 1)
    }
    at.collect([], 5_000)
    expect([...files, join(stray, "a".repeat(62))].map(existsSync)).toEqual([false, true, true])
  })

  test("finds nothing to do where nothing was ever stored", () => {
    using at = collecting()
    expect(() => at.collect([`sha256:${"0".repeat(64)}`], 1)).not.toThrow()
    expect(artifactTotals(at.directory)).toEqual({ artifactCount: 0, artifactBytes: 0 })
  })

  test("the totals count whole artifacts and nothing else", () => {
    using at = collecting()
    at.store.artifacts.put(bytes("12345"))
    const shelf = dirname(artifactPath(at.directory, at.store.artifacts.put(bytes("123"))))
    writeFileSync(join(shelf, ".aside-x"), "not yet")
    expect(artifactTotals(at.directory)).toEqual({ artifactCount: 2, artifactBytes: 8 })
  })
})
