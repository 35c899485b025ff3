import { expect, test } from "bun:test"
import { evidenceFixture, idsOf } from "../support/evidence-fixture.ts"
import { storeFixture } from "../support/store-fixture.ts"

test("an empty history answers every question with nothing", () => {
  using fixture = storeFixture()
  const { evidence } = fixture.open()
  expect([
    evidence.byTool("read_file", {}),
    evidence.failures(null, {}),
    evidence.byCode("TS1", {}),
    evidence.byFile("a", {}),
    evidence.recurring(1, {}),
    evidence.fixes("TS1", {}),
    evidence.matching("cal_1"),
  ]).toEqual([[], [], [], [], [], [], []])
  expect([evidence.show("cal_1"), evidence.latest("a")]).toEqual([null, null])
})

test("calls are matched by beginnings and ends of ids, short and long", () => {
  using log = evidenceFixture()
  for (const id of ["cal_0001-abcd", "cal_0002-abcd", "cal_0003-wxyz"]) log.call(id)
  const { evidence } = log
  expect(evidence.matching("cal_000")).toHaveLength(3)
  expect(evidence.matching("abcd")).toEqual(["cal_0001-abcd", "cal_0002-abcd"])
  expect(evidence.matching("2-abcd")).toEqual(["cal_0002-abcd"])
  expect(evidence.matching("z")).toEqual(["cal_0003-wxyz"])
  expect(evidence.matching("cal_0003-wxyz")).toEqual(["cal_0003-wxyz"])
})

test("the same question has the same answer after the store was opened again", () => {
  using log = evidenceFixture()
  for (const id of ["cal_c", "cal_a", "cal_b"]) log.call(id)
  const again = log.fixture.open({ readOnly: true })
  expect(again.evidence.byTool("read_file", {})).toEqual(log.evidence.byTool("read_file", {}))
  expect(idsOf(again.evidence.byTool("read_file", {}))).toEqual(["cal_c", "cal_a", "cal_b"])
})
