import { describe, expect, test } from "bun:test"
import { limitsFor } from "../../src/provider/reply-settings.ts"

const limits = { connectMs: 1, firstByteMs: 300, betweenMs: 60, wholeMs: 600 }
const tool = { name: "write_file", description: "Writes a file.", parameters: {} }
const format = { name: "plan", schema: {} }

describe("how long a reply may be silent", () => {
  test("is as it was set where nothing can be called", () => {
    expect(limitsFor({ tools: [], format: null }, limits)).toEqual(limits)
  })

  test.each([
    { tools: [tool], format: null },
    { tools: [], format },
  ])("is as long as before its first word where a call may be written", request => {
    expect(limitsFor(request, limits)).toEqual({ ...limits, betweenMs: 300 })
  })

  test("is never made shorter", () => {
    expect(limitsFor({ tools: [tool], format: null }, { ...limits, betweenMs: 400 }).betweenMs).toBe(400)
  })
})
