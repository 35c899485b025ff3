import { describe, expect, test } from "bun:test"
import { evidenceFixture } from "../support/evidence-fixture.ts"
import { changing, event, remarks } from "../support/session-events.ts"

describe("recurring diagnostics", () => {
  test("are those that came back often enough, most frequent first, ties by code", () => {
    using log = evidenceFixture()
    log.call("cal_1", remarks("a.ts", "TS1", "TS2"))
    log.goTo(1_000)
    log.call("cal_2", remarks("b.ts", "TS1", "TS3"))
    log.goTo(2_000)
    log.call("cal_3", remarks("a.ts", "TS1", "TS2", "TS3", "TS4"))
    expect(log.evidence.recurring(2, {})).toEqual([
      {
        code: "TS1",
        count: 3,
        firstSeen: log.at(0),
        lastSeen: log.at(2_000),
        ids: ["cal_1", "cal_2", "cal_3"],
      },
      { code: "TS2", count: 2, firstSeen: log.at(0), lastSeen: log.at(2_000), ids: ["cal_1", "cal_3"] },
      { code: "TS3", count: 2, firstSeen: log.at(1_000), lastSeen: log.at(2_000), ids: ["cal_2", "cal_3"] },
    ])
    expect(log.evidence.recurring(4, {})).toEqual([])
  })

  test("are counted by calls, not by how often one call repeats itself", () => {
    using log = evidenceFixture()
    const many = [
      ...(remarks("a.ts", "TS1", "TS1").diagnostics ?? []),
      ...(remarks("b.ts", "TS1").diagnostics ?? []),
    ]
    log.call("cal_1", { diagnostics: many })
    expect(log.evidence.recurring(2, {})).toEqual([])
    expect(log.evidence.recurring(1, {})).toMatchObject([{ code: "TS1", count: 1, ids: ["cal_1"] }])
  })

  test("are counted within the range, and cut at the limit", () => {
    using log = evidenceFixture()
    for (const ms of [0, 1_000, 2_000]) {
      log.goTo(ms)
      log.call(`cal_${ms}`, remarks("a.ts", "TS1", "TS2"))
    }
    const range = { since: log.at(1_000), until: log.at(2_000) }
    expect(log.evidence.recurring(1, { ...range, limit: 1 })).toEqual([
      { code: "TS1", count: 1, firstSeen: log.at(1_000), lastSeen: log.at(1_000), ids: ["cal_1000"] },
    ])
    expect(log.evidence.recurring(2, range)).toEqual([])
  })
})

describe("changes after a diagnostic", () => {
  test("are the successful ones of the same file, with the time between", () => {
    using log = evidenceFixture()
    log.call("cal_before", changing("a.ts"))
    log.call("cal_check", remarks("a.ts", "TS1"))
    log.goTo(3_000)
    log.call("cal_read", { paths: ["a.ts"] })
    log.call("cal_failed", { ...changing("a.ts"), outcome: "failed" })
    log.call("cal_other", changing("b.ts"))
    log.session.append(event.callRequested("cal_running"))
    log.call("cal_fix", changing("a.ts"), { tool: "file_write", canonicalTool: "write_file" })
    log.goTo(4_500)
    log.call("cal_more", changing("a.ts"))
    expect(log.evidence.fixes("TS1", {})).toEqual([
      { diagnosticId: "cal_check", fixId: "cal_fix", file: "a.ts", tool: "write_file", temporalGapMs: 3_000 },
      { diagnosticId: "cal_check", fixId: "cal_more", file: "a.ts", tool: "read_file", temporalGapMs: 4_500 },
    ])
    expect(log.evidence.fixes("TS2", {})).toEqual([])
  })

  test("are each told once, with the last diagnostic before them", () => {
    using log = evidenceFixture()
    log.call("cal_1", remarks("a.ts", "TS1"))
    log.goTo(1_000)
    log.call("cal_2", remarks("a.ts", "TS1"))
    log.call("cal_3", changing("a.ts"))
    log.call("cal_4", remarks("a.ts", "TS2"))
    log.goTo(2_000)
    log.call("cal_5", changing("a.ts"))
    log.call("cal_6", remarks("a.ts", "TS1"))
    log.call("cal_7", changing("a.ts"))
    const pairs = log.evidence.fixes("TS1", {}).map(fix => [fix.diagnosticId, fix.fixId, fix.temporalGapMs])
    expect(pairs).toEqual([
      ["cal_2", "cal_3", 0],
      ["cal_2", "cal_5", 1_000],
      ["cal_6", "cal_7", 0],
    ])
  })

  test("come in the order of the diagnostics, then of the changes, up to the limit", () => {
    using log = evidenceFixture()
    log.call("cal_1", {
      diagnostics: ["b.ts", "a.ts"].flatMap(file => remarks(file, "TS1").diagnostics ?? []),
    })
    log.call("cal_2", changing("b.ts"))
    log.call("cal_3", changing("a.ts", "b.ts"))
    const found = (limit?: number) =>
      log.evidence.fixes("TS1", limit === undefined ? {} : { limit }).map(fix => [fix.file, fix.fixId])
    expect(found()).toEqual([
      ["a.ts", "cal_3"],
      ["b.ts", "cal_2"],
      ["b.ts", "cal_3"],
    ])
    expect(found(2)).toEqual(found().slice(0, 2))
  })

  test("are in the range by their own time, however old the diagnostic is", () => {
    using log = evidenceFixture()
    log.call("cal_1", remarks("a.ts", "TS1"))
    for (const ms of [1_000, 2_000, 3_000]) {
      log.goTo(ms)
      log.call(`cal_at_${ms}`, changing("a.ts"))
    }
    const range = { since: log.at(2_000), until: log.at(3_000) }
    expect(log.evidence.fixes("TS1", range).map(fix => fix.fixId)).toEqual(["cal_at_2000"])
  })

  test("are not changes of the very call that made the remark", () => {
    using log = evidenceFixture()
    log.call("cal_1", { ...remarks("a.ts", "TS1"), ...changing("a.ts") })
    expect(log.evidence.fixes("TS1", {})).toEqual([])
  })
})
