import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { evidenceFixture, idsOf } from "../support/evidence-fixture.ts"
import { changing, event, remarks } from "../support/session-events.ts"

const failed = { outcome: "failed" } as const
const writing = { tool: "file_write", canonicalTool: "write_file" }

describe("calls of a tool", () => {
  test("come oldest first, those of one millisecond as they were recorded", () => {
    using log = evidenceFixture()
    log.goTo(10)
    log.call("cal_b")
    log.call("cal_a")
    log.goTo(5)
    log.call("cal_c")
    expect(idsOf(log.evidence.byTool("read_file", {}))).toEqual(["cal_c", "cal_b", "cal_a"])
  })

  test("are found under the name of the tool, however it was written", () => {
    using log = evidenceFixture()
    log.call("cal_1", {}, { tool: "file_read" })
    log.call("cal_2", {}, { tool: "read_file" })
    log.call("cal_3", {}, writing)
    expect(idsOf(log.evidence.byTool("read_file", {}))).toEqual(["cal_1", "cal_2"])
    expect(log.evidence.byTool("file_read", {})).toEqual([])
  })

  test("are found as written when no tool has that name", () => {
    using log = evidenceFixture()
    log.call("cal_1", failed, { tool: "frobnicate", canonicalTool: null })
    expect(idsOf(log.evidence.byTool("frobnicate", {}))).toEqual(["cal_1"])
  })

  test("are found while they run", () => {
    using log = evidenceFixture()
    log.session.append(event.callRequested("cal_1"))
    expect(log.evidence.byTool("read_file", {})).toMatchObject([{ id: "cal_1", status: "started" }])
  })
})

describe("a range of time", () => {
  test("has its beginning and not its end, in any spelling of time", () => {
    using log = evidenceFixture()
    for (const ms of [0, 1_000, 2_000]) {
      log.goTo(ms)
      log.call(`cal_${ms}`, { ...failed, ...remarks("a.ts", "TS1") })
    }
    const range = { since: log.at(1_000).replace("Z", "+00:00"), until: log.at(2_000) }
    const { evidence } = log
    expect(idsOf(evidence.byTool("read_file", range))).toEqual(["cal_1000"])
    expect(idsOf(evidence.failures(null, range))).toEqual(["cal_1000"])
    expect(idsOf(evidence.byCode("TS1", range))).toEqual(["cal_1000"])
    expect(idsOf(evidence.byFile("a.ts", range))).toEqual(["cal_1000"])
  })

  test("that is empty gives no rows, and no error", () => {
    using log = evidenceFixture()
    log.call("cal_1")
    const range = { since: log.at(1), until: log.at(0) }
    expect(log.evidence.byTool("read_file", range)).toEqual([])
    expect(log.evidence.byTool("no_tool", {})).toEqual([])
  })

  test("is cut where its limit is", () => {
    using log = evidenceFixture()
    for (const id of ["cal_1", "cal_2", "cal_3"]) log.call(id, { ...failed, ...remarks("a.ts", "TS1") })
    const { evidence } = log
    expect(idsOf(evidence.byTool("read_file", { limit: 2 }))).toEqual(["cal_1", "cal_2"])
    expect(idsOf(evidence.failures(null, { limit: 2 }))).toEqual(["cal_3", "cal_2"])
    expect(idsOf(evidence.byCode("TS1", { limit: 2 }))).toEqual(["cal_3", "cal_2"])
    expect(idsOf(evidence.byFile("a.ts", { limit: 2 }))).toEqual(["cal_3", "cal_2"])
    expect(evidence.byTool("read_file", { limit: 0 })).toEqual([])
  })
})

describe("failures", () => {
  test("are all calls that did not do what they were for, newest first", () => {
    using log = evidenceFixture()
    log.call("cal_1", failed)
    log.call("cal_2")
    log.call("cal_3", { outcome: "interrupted", certainty: "unknown" }, writing)
    log.call("cal_4", { outcome: "denied" }, writing)
    log.session.append(event.callRequested("cal_5"))
    expect(idsOf(log.evidence.failures(null, {}))).toEqual(["cal_4", "cal_3", "cal_1"])
    expect(idsOf(log.evidence.failures("write_file", {}))).toEqual(["cal_4", "cal_3"])
    expect(log.evidence.failures("delete_file", {})).toEqual([])
  })
})

describe("calls with a diagnostic", () => {
  test("are found by its code, once each, newest first", () => {
    using log = evidenceFixture()
    log.call("cal_1", remarks("a.ts", "TS1", "TS1", "TS2"))
    log.call("cal_2", remarks("a.ts", "TS2"))
    log.call("cal_3", remarks("b.ts", null, "TS1"))
    expect(idsOf(log.evidence.byCode("TS1", {}))).toEqual(["cal_3", "cal_1"])
    expect(log.evidence.byCode("TS3", {})).toEqual([])
  })
})

describe("calls that concern a file", () => {
  test("are those that inspected it and those that changed it, newest first", () => {
    using log = evidenceFixture()
    log.call("cal_1", { paths: ["a.txt"] })
    log.call("cal_2", changing("a.txt", "b.txt"))
    log.call("cal_3", { paths: ["b.txt"] })
    expect(idsOf(log.evidence.byFile("a.txt", {}))).toEqual(["cal_2", "cal_1"])
    expect(log.evidence.latest("b.txt")).toMatchObject({ id: "cal_3", status: "succeeded" })
    expect(log.evidence.latest("c.txt")).toBeNull()
  })

  test.each(["%", "_", "*", "?", "a%", "A.TXT"])("are not found by the pattern %s", pattern => {
    using log = evidenceFixture()
    log.call("cal_1", { paths: ["a.txt"], ...remarks("a.txt", "a.txt") })
    expect(log.evidence.byFile(pattern, {})).toEqual([])
    expect(log.evidence.byCode(pattern, {})).toEqual([])
    expect(log.evidence.byTool(pattern, {})).toEqual([])
    expect(log.evidence.fixes(pattern, {})).toEqual([])
    expect(log.evidence.matching(pattern)).toEqual([])
  })
})

test("each query is answered from an index", () => {
  using log = evidenceFixture()
  using db = new Database(log.fixture.options.databasePath)
  const failing = "status IN ('failed', 'interrupted')"
  const plans: readonly (readonly [string, string])[] = [
    [
      "coalesce(canonical_tool, tool) = 'x' AND at >= '' AND at < '~' ORDER BY at, position",
      "evidence_by_tool",
    ],
    [`${failing} AND at >= '' AND at < '~' ORDER BY at DESC, position DESC`, "evidence_failures"],
    [
      `coalesce(canonical_tool, tool) = 'x' AND ${failing} AND at >= '' ORDER BY at DESC, position DESC`,
      "evidence_failures_by_tool",
    ],
    ["substr(id, -4) = 'abcd'", "evidence_by_ending"],
  ]
  for (const [where, index] of plans) {
    const plan = db
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN SELECT * FROM evidence WHERE ${where}`)
      .all()
    expect(plan.map(({ detail }) => detail).join()).toMatch(
      new RegExp(`^SEARCH evidence USING INDEX ${index} [^,]*$`),
    )
  }
})
