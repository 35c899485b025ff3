import { describe, expect, test } from "bun:test"
import { bytesText, durationText, shortId } from "../../../src/cli/render/format.ts"

test("an id is shown by its last eight characters", () => {
  expect(shortId("exe_0197a3c2-1111-7222-8333-44445555abcd")).toBe("5555abcd")
})

describe("a duration for people", () => {
  for (const [durationMs, text] of [
    [0, "0 ms"],
    [999, "999 ms"],
    [1000, "1.0 s"],
    [59_949, "59.9 s"],
    [60_000, "1 m 0 s"],
    [125_000, "2 m 5 s"],
    [119_700, "2 m 0 s"],
    [3_600_000, "60 m 0 s"],
  ] as const)
    test(`${durationMs} ms is ${text}`, () => expect(durationText(durationMs)).toBe(text))
})

describe("a size for people", () => {
  for (const [bytes, text] of [
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KB"],
    [1_048_576, "1.0 MB"],
    [5_400_000, "5.1 MB"],
  ] as const)
    test(`${bytes} bytes is ${text}`, () => expect(bytesText(bytes)).toBe(text))
})
