import { describe, expect, test } from "bun:test"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { CommandFinished } from "../../../src/domain/events/command-events.ts"
import type { ArtifactStore } from "../../../src/store/contract.ts"
import {
  executionOutcome,
  interruptedOutcome,
  recordOf as readBack,
} from "../../../src/store/executions/execution-outcome.ts"
import { hides, noArtifacts, recordOf, startOf } from "../support/store-fixture.ts"

const rules = { inlineBytesMax: 10, includeOutput: true }
const nothing = { stdout: null, stderr: null }
const bytes = (text: string) => new TextEncoder().encode(text)
const refOf = (text: string) => `sha256:${sha256Hex(text)}`

/** An artifact store in memory, with the real one's promise: the name is of what is stored. */
function inMemory(redact = (content: Uint8Array) => content): ArtifactStore & { readonly refs: string[] } {
  const stored = new Map<string, Uint8Array>()
  const refs: string[] = []
  return {
    refs,
    put: content => {
      const kept = redact(content)
      const ref = `sha256:${sha256Hex(kept)}`
      stored.set(ref, kept)
      refs.push(ref)
      return ref
    },
    putJson: noArtifacts.putJson,
    get: ref => stored.get(ref) ?? null,
  }
}

describe("the outcome of an execution", () => {
  test("holds short texts itself", () => {
    const artifacts = inMemory()
    const outcome = executionOutcome(
      recordOf("exe_a", { result: { stdout: "1234567890" } }),
      nothing,
      artifacts,
      rules,
    )
    expect(outcome.result.stdout).toEqual({ kind: "inline", text: "1234567890" })
    expect(artifacts.refs).toEqual([])
  })

  test("names long texts, counted in bytes", () => {
    const artifacts = inMemory()
    const stdout = "äöüäöü"
    const outcome = executionOutcome(recordOf("exe_a", { result: { stdout } }), nothing, artifacts, rules)
    expect(outcome.result.stdout).toEqual({ kind: "artifact", ref: refOf(stdout), bytes: 12 })
  })

  test("is an event that can be appended, and reads back as the record it came from", () => {
    const artifacts = inMemory()
    const whole = "everything that was printed"
    const record = recordOf("exe_a", {
      result: {
        stdout: "\ufeffa text with a mark at its beginning",
        stderr: "head … tail, which is long",
        artifacts: { stdout: null, stderr: refOf(whole) },
        truncation: {
          stdout: null,
          stderr: { originalBytes: 27, keptBytes: 20, sha256: "ab", artifact: refOf(whole) },
        },
      },
    })
    const outcome = executionOutcome(record, { stdout: null, stderr: bytes(whole) }, artifacts, rules)
    expect(CommandFinished.data.parse(outcome)).toEqual(outcome)
    expect(readBack(startOf("exe_a"), outcome, artifacts)).toEqual(record)
    expect(artifacts.refs).toContain(refOf(whole))
  })

  test("reads back with the members in the order of the schema", () => {
    const artifacts = inMemory()
    const record = recordOf("exe_a")
    const outcome = executionOutcome(record, nothing, artifacts, rules)
    const sorted = JSON.parse(JSON.stringify(outcome, Object.keys(outcome).sort()))
    expect(Object.keys(readBack(startOf("exe_a"), { ...sorted, ...outcome }, artifacts))).toEqual([
      "id",
      "command",
      "result",
      "correlationIds",
    ])
  })

  test("keeps a text that is not well-formed in the event, where it survives", () => {
    const artifacts = inMemory()
    const stdout = `${"x".repeat(20)}\ud800`
    const outcome = executionOutcome(recordOf("exe_a", { result: { stdout } }), nothing, artifacts, rules)
    expect(outcome.result.stdout).toEqual({ kind: "inline", text: stdout })
  })

  test("names what was really stored when the funnel hid something more", () => {
    const artifacts = inMemory(hides("hunter22").redactBytes)
    const promised = refOf("it is hunter22")
    const record = recordOf("exe_a", {
      result: {
        artifacts: { stdout: promised, stderr: null },
        truncation: {
          stdout: { originalBytes: 14, keptBytes: 1, sha256: "ab", artifact: promised },
          stderr: null,
        },
      },
    })
    const { result } = executionOutcome(
      record,
      { stdout: bytes("it is hunter22"), stderr: null },
      artifacts,
      rules,
    )
    const stored = refOf("it is [REDACTED:test]")
    expect([result.artifacts.stdout, result.truncation?.stdout?.artifact]).toEqual([stored, stored])
  })

  test("stores no bytes that the record does not name", () => {
    const artifacts = inMemory()
    executionOutcome(recordOf("exe_a"), { stdout: bytes("extra"), stderr: bytes("more") }, artifacts, rules)
    expect(artifacts.refs).toEqual([])
  })

  test("leaves out everything that was printed when that is asked for", () => {
    const artifacts = inMemory()
    const record = recordOf("exe_a", {
      result: {
        stdout: "long enough to be an artifact",
        artifacts: { stdout: refOf("x"), stderr: null },
        truncation: {
          stdout: { originalBytes: 99, keptBytes: 1, sha256: "ab", artifact: refOf("x") },
          stderr: null,
        },
      },
    })
    const quiet = { ...rules, includeOutput: false }
    const outcome = executionOutcome(record, { stdout: bytes("x"), stderr: null }, artifacts, quiet)
    expect(artifacts.refs).toEqual([])
    expect(outcome.result).toMatchObject({
      stdout: { kind: "omitted" },
      artifacts: { stdout: null, stderr: null },
      truncation: { stdout: { originalBytes: 99, artifact: null }, stderr: null },
    })
    expect(readBack(startOf("exe_a"), outcome, artifacts).result.stdout).toBe("")
  })

  test("says so when a stored text is gone", () => {
    const outcome = executionOutcome(
      recordOf("exe_a", { result: { stdout: "x".repeat(11) } }),
      nothing,
      inMemory(),
      rules,
    )
    const text = readBack(startOf("exe_a"), outcome, inMemory()).result.stdout
    expect(text).toBe(`[the stored output ${refOf("x".repeat(11))} is missing]`)
  })
})

describe("an interrupted execution", () => {
  test("says that it started and guesses nothing", () => {
    const outcome = interruptedOutcome(startOf("exe_a"), "2026-01-02T03:04:05.678Z", ["a/.git"])
    expect(CommandFinished.data.parse(outcome)).toEqual(outcome)
    expect(outcome.result).toMatchObject({
      ending: "interrupted",
      success: false,
      exitCode: null,
      signal: null,
      durationMs: 0,
      error: { code: "ACODE-EXE-013" },
      usage: { cpuMs: null, maxRssBytes: null },
      sandbox: { kind: "bwrap", network: "none", quarantined: ["a/.git"] },
    })
  })
})
