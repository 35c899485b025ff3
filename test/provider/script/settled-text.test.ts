import { describe, expect, test } from "bun:test"
import { settledText } from "../../../src/provider/script/settled-text.ts"

describe("text that differs every time", () => {
  test.each([
    ["(pass) adds numbers [0.15ms]", "(pass) adds numbers [1.20ms]"],
    ["Ran 12 tests across 3 files. [230.00ms]", "Ran 12 tests across 3 files. [1.03s]"],
    ["# duration_ms 45.1123", "# duration_ms 7"],
    ["  duration_ms: 0.5", "  duration_ms: 112.25"],
    ["ok  \texample.com/a\t0.003s", "ok  \texample.com/a\t1.2s"],
    ["3 passed in 0.01s", "3 passed in 4.5s"],
    ["Finished in 2 seconds", "Finished in 1 second"],
    ["at 2026-01-02T03:04:05.678Z", "at 2027-11-12T13:14:15Z"],
    ["log 2026-01-02T03_04_05_678Z-debug", "log 2026-01-02T03_04_06_001Z-debug"],
    ["outputs/plain-20260102-0a1b2c.md", "outputs/plain-20271112-ffeedd.md"],
    ["12:01:59 start", "03:04:05.123 start"],
    ["cal_00000000-0000-7000-8000-000000000001 failed", "cal_0198a000-1111-7000-8abc-00000000000f failed"],
    [`all of it: sha256:${"a".repeat(64)}`, `all of it: sha256:${"0".repeat(64)}`],
  ])("is taken out of %j", (one, other) => {
    expect(settledText(one, null)).toBe(settledText(other, null))
  })

  test("is where the workspace lies", () => {
    expect(settledText("at /home/ann/shop/src/a.ts:3", "/home/ann/shop")).toBe(
      settledText("at /tmp/copy/src/a.ts:3", "/tmp/copy"),
    )
  })
})

describe("a server or model that was used", () => {
  test.each([
    ["exit code 0", "exit code 1"],
    ["3 passed", "2 passed"],
    ["src/a.ts:3:7", "src/a.ts:4:7"],
    ["version 1.2.3", "version 1.2.4"],
    ["expected 5 items", "expected 6 items"],
    ["file1s", "file2s"],
  ])("stays: %j is not %j", (one, other) => {
    expect(settledText(one, null)).not.toBe(settledText(other, null))
  })

  test("stays the same when it is settled twice", () => {
    const once = settledText("2026-01-02T03:04:05Z took 3 ms in /w", "/w")
    expect(settledText(once, "/w")).toBe(once)
  })
})

test("a long text of digits and letters takes no longer than it is long", () => {
  const began = performance.now()
  for (const piece of ["1", "a1", "0123456789abcdef-", "12:", "1 s", "2026-01-02T"])
    settledText(piece.repeat(1_000_000 / piece.length), null)
  expect(performance.now() - began).toBeLessThan(5_000)
})
