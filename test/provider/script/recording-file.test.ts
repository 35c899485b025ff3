import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readRecording } from "../../../src/provider/script/recording-file.ts"

function line(changes: object = {}): string {
  const reply = {
    schema: 1,
    index: 0,
    stage: "planner",
    requestDigest: "sha256:x",
    request: { tools: "", messages: ["user:x"] },
    items: [{ kind: "end", reason: "stop" }],
    ...changes,
  }
  return `${JSON.stringify(reply)}\n`
}

function problemsOf(text: string) {
  const reading = readRecording(text)
  return "problems" in reading ? reading.problems : []
}

describe("a recording", () => {
  test("is its replies by their index", () => {
    const reading = readRecording(line() + line({ index: 2, stage: "agent" }))
    expect("recording" in reading ? [...reading.recording.keys()] : null).toEqual([0, 2])
  })

  test("may be empty", () => {
    expect(readRecording("")).toEqual({ recording: new Map() })
  })

  test("has the later one of a reply that was given twice", () => {
    const again = [{ kind: "text", text: "again" }]
    const reading = readRecording(line() + line({ items: again }))
    expect("recording" in reading ? reading.recording.get(0)?.items : null).toEqual(again as never)
  })

  test("holds every kind of item", () => {
    const items = [
      { kind: "text", text: "x" },
      { kind: "call", call: { id: "1", tool: "x", arguments: { a: [null] } } },
      { kind: "usage", input: 1, output: 2 },
      { kind: "failure", failure: { kind: "timeout", message: "", retryable: true, retryAfterMs: null } },
    ]
    const reading = readRecording(line({ items }))
    expect("recording" in reading ? reading.recording.get(0)?.items : null).toEqual(items as never)
  })

  test("with lines that are something else is refused, and every such line is named", () => {
    const text = `${line()}not json\n${line({ index: -1 })}${line({ items: [{ kind: "song" }] })}${line()}\n`
    expect(problemsOf(text)).toEqual([
      { line: 2, message: "is not JSON" },
      { line: 3, message: "is not a recorded reply of this version" },
      { line: 4, message: "is not a recorded reply of this version" },
      { line: 6, message: "is not JSON" },
    ])
  })

  test("of another version, or with more than it knows, is refused", () => {
    expect(problemsOf(line({ schema: 2 }))).toHaveLength(1)
    expect(problemsOf(line({ mood: "good" }))).toHaveLength(1)
  })

  test("nested too deep is refused", () => {
    const deep = `${"[".repeat(1_000)}${"]".repeat(1_000)}\n`
    expect(problemsOf(deep)).toEqual([
      { line: 1, message: "contains something that is nested more than 64 levels deep" },
    ])
  })

  test("can be any text at all, and is read or refused", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json()), { maxLength: 5 }), lines => {
        const reading = readRecording(lines.map(each => `${each}\n`).join(""))
        expect("recording" in reading || reading.problems.length > 0).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
