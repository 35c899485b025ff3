import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import type { ExecutionFilter, Store } from "../../../src/store/contract.ts"
import { type DeepChange, nextId, recordOf, runOne, startOf, storeFixture } from "../support/store-fixture.ts"

const at = (time: string): DeepChange => ({ result: { startTime: `2026-01-0${time}` } })
const running = (store: Store, id = nextId()) => {
  store.executions.started(startOf(id))
  return id
}
const command = (executable: string, ...args: string[]): DeepChange => ({
  command: { executable, arguments: args },
})

describe("listing executions", () => {
  test("shows the newest first, and in the order they were recorded when they started together", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [a, b, c, d] = [
      runOne(store, at("2T00:00:00.000Z")),
      runOne(store, at("3T00:00:00.000Z")),
      runOne(store, at("3T00:00:00.000Z")),
      runOne(store, at("1T00:00:00.000Z")),
    ]
    const listed = store.executions.list({}).map(row => row.id)
    expect(listed).toEqual([c, b, a, d].map(String))
    expect(store.executions.list({ limit: 2 }).map(row => row.id)).toEqual([c, b].map(String))
    expect(store.executions.list({ limit: 0 })).toEqual([])
  })

  test("reports of each how it ended, or that it has not", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const change = { correlationIds: { runId: "run_7", sessionId: "ses_1", taskId: "tsk_1" } }
    const ended = runOne(store, { ...change, result: { exitCode: 3, success: false } })
    const open = running(store)
    const rows = Object.fromEntries(store.executions.list({}).map(row => [row.id, row]))
    expect(rows[ended]).toEqual({
      id: ended,
      commandLine: "npm test",
      ending: "exited",
      exitCode: 3,
      success: false,
      startTime: "2026-01-02T03:04:05.678Z",
      durationMs: 500,
      runId: "run_7",
      sessionId: "ses_1",
      taskId: "tsk_1",
    })
    expect(rows[open]).toMatchObject({ ending: null, exitCode: null, success: null, durationMs: null })
  })

  const cases: [ExecutionFilter, string][] = [
    [{ runId: "run_1" }, "b a"],
    [{ sessionId: "ses_1" }, "c"],
    [{ taskId: "tsk_1" }, "c"],
    [{ failed: true }, "b"],
    [{ failed: false }, "c a"],
    [{ since: "2026-01-02T00:00:00Z" }, "c b"],
    [{ since: "2026-01-02" }, "c b"],
    [{ until: "2026-01-02T00:00:00.000Z" }, "a"],
    [{ until: "2026-01-02T01:00:00+01:00" }, "a"],
    [{ since: "2026-01-02T00:00:00Z", until: "2026-01-03T00:00:00Z" }, "b"],
    [{ runId: "run_1", failed: true }, "b"],
    [{ runId: "run_nobody" }, ""],
  ]

  test.each(cases)("%j gives %p", (filter, expected) => {
    using fixture = storeFixture()
    const store = fixture.open()
    const names = new Map([
      [runOne(store, at("1T00:00:00.000Z")), "a"],
      [runOne(store, { result: { startTime: "2026-01-02T00:00:00.000Z", success: false } }), "b"],
      [
        runOne(store, {
          ...at("3T00:00:00.000Z"),
          correlationIds: { runId: "run_2", sessionId: "ses_1", taskId: "tsk_1" },
        }),
        "c",
      ],
    ])
    running(store)
    const found = store.executions.list({ ...filter, until: filter.until ?? "2026-01-03T01:00:00Z" })
    const settled = found.filter(row => names.has(row.id))
    expect(settled.map(row => names.get(row.id)).join(" ")).toBe(expected)
  })

  const globs: [string, string[]][] = [
    ["npm*", ["npm run x", "npm test"]],
    ["npm test", ["npm test"]],
    ["npm", []],
    ["*test", ["npm test"]],
    ["n?m test", ["npm test"]],
    ["NPM*", []],
    ["*%*", ["printf %s_[x]"]],
    ["*_*", ["printf %s_[x]"]],
    ["*[x]*", ["printf %s_[x]"]],
    ["*[a-z]*", []],
    ["***", ["printf %s_[x]", "npm run x", "npm test"]],
  ]

  test.each(globs)("the glob %p finds %j", (glob, expected) => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store, command("npm", "test"))
    runOne(store, command("npm", "run", "x"))
    runOne(store, { command: { executable: "printf %s_[x]", arguments: [], shell: true } })
    expect(store.executions.list({ command: glob }).map(row => row.commandLine)).toEqual(expected)
  })

  test("a time that is none is a mistake of the caller", () => {
    using fixture = storeFixture()
    expect(() => fixture.open().executions.list({ since: "yesterday" })).toThrow('"yesterday" is a time')
  })
})

describe("finding an execution by a part of its id", () => {
  test("takes a beginning, an ending or the whole", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const ids = ["exe_aa11", "exe_aa22", "exe_bb11"].map(id => runOne(store, {}, id))
    const found = (typed: string) => [...store.executions.matching(typed)]
    expect(found("exe_aa")).toEqual(["exe_aa11", "exe_aa22"])
    expect(found("11")).toEqual(["exe_aa11", "exe_bb11"])
    expect(found("a22")).toEqual(["exe_aa22"])
    expect(found("exe_bb11")).toEqual(["exe_bb11"])
    expect(found("exe_")).toEqual(ids)
    expect(["", "%", "_", "*", "aa", "exe_x"].map(found)).toEqual([[], [], [], [], [], []])
  })

  test("the whole id of one is not confused with the beginning of another", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    for (const id of ["exe_1", "exe_12"]) runOne(store, {}, id)
    expect(store.executions.matching("exe_1")).toEqual(["exe_1"])
  })
})

describe("showing an execution", () => {
  test("gives back the record that was settled, long texts included", () => {
    using fixture = storeFixture()
    const store = fixture.open({ inlineBytesMax: 100 })
    const id = nextId()
    const change = { result: { stdout: "line\n".repeat(1000), stderr: "short" } }
    runOne(store, change, id)
    expect(store.executions.show(id)).toEqual(recordOf(id, change))
    expect(store.log.read(id, 1)[0]?.data).toMatchObject({
      result: { stdout: { kind: "artifact", bytes: 5000 } },
    })
  })

  test("gives null for one that is unknown or still running", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    expect(store.executions.show("exe_nobody")).toBeNull()
    expect(store.executions.show(running(store))).toBeNull()
  })
})

describe("statistics", () => {
  test("of an empty history are zeros", () => {
    using fixture = storeFixture()
    expect(fixture.open().executions.stats()).toMatchObject({
      executions: 0,
      durationMsTotal: 0,
      artifactCount: 0,
      artifactBytes: 0,
      oldest: null,
      newest: null,
    })
  })

  test("count every ending and what is stored", () => {
    using fixture = storeFixture()
    const store = fixture.open({ inlineBytesMax: 100 })
    runOne(store, at("1T00:00:00.000Z"))
    runOne(store, { result: { ending: "timedOut", success: false, exitCode: null } })
    runOne(store, { result: { ending: "interrupted", success: false, exitCode: null } })
    runOne(store, { result: { stdout: "x".repeat(200) } })
    running(store)
    const { databaseBytes, ...counts } = store.executions.stats()
    expect(counts).toEqual({
      executions: 5,
      succeeded: 2,
      failed: 2,
      timedOut: 1,
      interrupted: 1,
      running: 1,
      durationMsTotal: 2000,
      artifactCount: 1,
      artifactBytes: 200,
      oldest: "2026-01-01T00:00:00.000Z",
      newest: "2026-01-02T03:04:05.678Z",
    })
    expect(existsSync(`${fixture.options.databasePath}-wal`)).toBe(true)
    expect(databaseBytes).toBeGreaterThan(4096)
  })
})
