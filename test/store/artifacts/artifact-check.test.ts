import { describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { noFaults } from "../../../src/base/faults.ts"
import { artifactProblems } from "../../../src/store/artifacts/artifact-check.ts"
import { artifactPath } from "../../../src/store/artifacts/artifacts.ts"
import { openDatabase } from "../../../src/store/database/database.ts"
import { runOne, storeFixture } from "../support/store-fixture.ts"

function filled(bytes: number) {
  const fixture = storeFixture()
  const store = fixture.open({ inlineBytesMax: 10 })
  const change = { result: { stdout: "x".repeat(bytes) } }
  const ids = [runOne(store, change), runOne(store, change)]
  const { databasePath: path, artifactsDirectory: directory } = fixture.options
  const connection = openDatabase({ path, readOnly: true, busyTimeoutMs: 100, faults: noFaults })
  const ref = connection.db.query<{ ref: string }, []>("SELECT ref FROM artifact_references").get()?.ref ?? ""
  return {
    store,
    ids,
    ref,
    path: artifactPath(directory, ref),
    problems: (streams: readonly string[] | null = null) => artifactProblems(connection, directory, streams),
    [Symbol.dispose]: () => {
      connection[Symbol.dispose]()
      fixture[Symbol.dispose]()
    },
  }
}

describe("checking artifacts", () => {
  test("finds nothing wrong with those that are as they were, large ones included", () => {
    using at = filled(3_000_000)
    expect(at.problems()).toEqual([])
  })

  test("returns each once, with the first event that names it", () => {
    using at = filled(100)
    rmSync(at.path)
    expect(at.problems()).toEqual([
      { stream: at.ids[0] ?? "", seq: 2, position: 2, what: `its artifact ${at.ref} is missing` },
    ])
  })

  test("of some streams returns what these name, also where another stream named it first", () => {
    using at = filled(100)
    rmSync(at.path)
    expect(at.problems(at.ids.slice(1)).map(({ stream, position }) => [stream, position])).toEqual([
      [at.ids[1] ?? "", 4],
    ])
    expect(at.problems(["ses_other"])).toEqual([])
  })

  test("finds a changed byte, a missing end and an added one", () => {
    using at = filled(2_000_000)
    const content = readFileSync(at.path)
    const changed = Buffer.from(content)
    changed[1_500_000] = 0
    for (const wrong of [changed, content.subarray(1), Buffer.concat([content, Buffer.from("x")])]) {
      writeFileSync(at.path, wrong)
      expect(at.problems().map(problem => problem.what)).toEqual([`its artifact ${at.ref} was changed`])
    }
    writeFileSync(at.path, content)
    truncateSync(at.path, 0)
    expect(at.problems()).toHaveLength(1)
  })

  test("takes neither a link nor a directory for it", () => {
    using at = filled(100)
    rmSync(at.path)
    mkdirSync(at.path)
    expect(at.problems()).toHaveLength(1)
    rmSync(at.path, { recursive: true })
    symlinkSync("/dev/zero", at.path)
    expect(at.problems()).toHaveLength(1)
  })

  test("asks nothing of what was pruned", () => {
    using at = filled(100)
    at.store.executions.prune({}, "all")
    expect(at.problems()).toEqual([])
  })
})
