import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { systemIds } from "../../../src/base/clock.ts"
import { CommandFinished, CommandStarted, HistoryPruned } from "../../../src/domain/events/command-events.ts"
import { newEvent } from "../../../src/domain/events/definition.ts"
import { PlanApproved } from "../../../src/domain/events/session-events.ts"
import { executionOutcome } from "../../../src/store/executions/execution-outcome.ts"
import { prepareEvent } from "../../../src/store/log/event-preparation.ts"
import { hides, keepsEverything, noArtifacts, recordOf, startOf } from "../support/store-fixture.ts"

const rules = { inlineBytesMax: 1000, includeOutput: true }

function finished(change: Parameters<typeof recordOf>[1] = {}) {
  const data = executionOutcome(recordOf("exe_a", change), { stdout: null, stderr: null }, noArtifacts, rules)
  return newEvent(CommandFinished, data)
}

describe("an event on its way into the log", () => {
  test("gets its one spelling", () => {
    const event = newEvent(HistoryPruned, { streams: [], reason: "age" })
    expect(prepareEvent(event, keepsEverything)).toEqual({
      type: "history.pruned",
      version: 1,
      data: { reason: "age", streams: [] },
      text: '{"reason":"age","streams":[]}',
    })
  })

  test("is refused when its type is not declared", () => {
    const event = { type: "command.imagined", version: 1, data: {} }
    expect(() => prepareEvent(event, keepsEverything)).toThrow("command.imagined@1")
    const unknownVersion = { ...newEvent(HistoryPruned, { streams: [], reason: "age" }), version: 99 }
    expect(() => prepareEvent(unknownVersion, keepsEverything)).toThrow("history.pruned@99")
  })

  test("is refused when JSON cannot carry it", () => {
    const event = { type: "history.pruned", version: 1, data: { reason: Number.NaN, streams: [] } }
    expect(() => prepareEvent(event, keepsEverything)).toThrow("not representable in JSON")
  })

  test("keeps its ids and hashes, whatever someone takes for a secret", () => {
    const data = {
      approvalId: systemIds.next("apr"),
      planId: "plan-1",
      planHash: `sha256:${"ab".repeat(32)}`,
      approver: "ada",
      stepCount: 1,
      expiresAt: "2027-01-01T00:00:00.000Z",
    }
    const everything = { redactText: () => "[REDACTED:custom]", redactBytes: (bytes: Uint8Array) => bytes }
    expect(prepareEvent(newEvent(PlanApproved, data), everything).data).toEqual({
      ...data,
      planId: "[REDACTED:custom]",
      approver: "[REDACTED:custom]",
    })
  })

  test("is refused when redaction leaves something its type does not declare", () => {
    const redactor = {
      redactText: (text: string) => text.replace("hide", "[REDACTED:x]"),
      redactBytes: (b: Uint8Array) => b,
    }
    const event = { type: "history.pruned", version: 1, data: { reason: "hide", streams: [], more: 1 } }
    expect(() => prepareEvent(event, redactor)).toThrow("the event is valid")
  })

  test("that needs no redaction is the very one that was handed in", () => {
    const event = newEvent(CommandStarted, startOf("exe_a", {}))
    expect(prepareEvent(event, keepsEverything).data).toBe(event.data as Json)
  })

  test("loses every secret, however deep, in values and in names", () => {
    const event = newEvent(
      CommandStarted,
      startOf("exe_a", {
        command: {
          executable: "deploy-hunter22",
          arguments: ["--password", "hunter22", "a hunter22 b"],
          environment: { PASSWORD: "hunter22", hunter22: "x" },
        },
      }),
    )
    const { text, data } = prepareEvent(event, hides("hunter22"))
    expect(text).not.toContain("hunter22")
    expect(data).toMatchObject({
      command: {
        executable: "deploy-[REDACTED:test]",
        arguments: ["--password", "[REDACTED:test]", "a [REDACTED:test] b"],
        environment: { PASSWORD: "[REDACTED:test]", "[REDACTED:test]": "x" },
      },
    })
  })

  test("keeps the words of its vocabulary when a secret happens to be one of them", () => {
    const { data, text } = prepareEvent(
      finished({ result: { stdout: "exited with grace" } }),
      hides("exited", "grace"),
    )
    expect(data).toMatchObject({ result: { ending: "exited", stdout: { kind: "inline" } } })
    expect(text).toContain("[REDACTED:test] with [REDACTED:test]")
  })

  test("keeps the names of its members when a secret happens to be one of them", () => {
    const { data } = prepareEvent(finished({ result: { stdout: "my durationMs" } }), hides("durationMs"))
    expect(data).toMatchObject({ result: { durationMs: 500, stdout: { text: "my [REDACTED:test]" } } })
  })

  test("asks the redactor about each text, and once about all names it does not know yet", () => {
    const asked: string[] = []
    const counting = {
      ...keepsEverything,
      redactText: (text: string) => {
        asked.push(text)
        return text
      },
    }
    prepareEvent(
      newEvent(HistoryPruned, { reason: "age", streams: [{ stream: "exe_a", events: [] }] }),
      counting,
    )
    expect(asked).toEqual(["age", "exe_a", "reason\nstreams\nstream\nevents"])
    prepareEvent(newEvent(HistoryPruned, { reason: "count", streams: [] }), counting)
    expect(asked.slice(3)).toEqual(["count"])
  })

  test("keeps a word of its vocabulary inside a list too", () => {
    const event = newEvent(HistoryPruned, {
      reason: "stream",
      streams: [{ stream: "exe_stream", events: [{ position: 1, hash: "aa" }] }],
    })
    expect(prepareEvent(event, hides("stream")).data).toEqual({
      reason: "[REDACTED:test]",
      streams: [{ stream: "exe_[REDACTED:test]", events: [{ position: 1, hash: "aa" }] }],
    })
  })

  test("carries any text without loss", () => {
    const odd = 'nul \u0000 quote " slash \\ lone \ud800 emoji 😀 line\u2028'
    const { text } = prepareEvent(finished({ result: { stdout: odd } }), keepsEverything)
    expect(JSON.parse(text).result.stdout.text).toBe(odd)
  })
})
