import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { CommandFinished, CommandStarted } from "../../../src/domain/events/command-events.ts"
import { newEvent } from "../../../src/domain/events/definition.ts"
import type { StoredEvent } from "../../../src/store/contract.ts"
import {
  executionOutcome,
  finishedFields,
  startedFields,
} from "../../../src/store/executions/execution-outcome.ts"
import { finishedRow, startedRow } from "../../../src/store/executions/execution-projection.ts"
import {
  type DeepChange,
  nextId,
  noArtifacts,
  recordOf,
  runOne,
  startOf,
  storeFixture,
} from "../support/store-fixture.ts"

function rowOf(id: string, change: DeepChange = {}) {
  const event: StoredEvent = {
    stream: id,
    seq: 1,
    position: 7,
    epoch: 1,
    at: "2026-01-02T03:04:05.000Z",
    type: "command.started",
    version: 1,
    data: JSON.parse(JSON.stringify(startOf(id, change))),
    prevHash: "",
    hash: "",
  }
  const fields = startedFields(event)
  if (fields === null) throw new Error("not a start")
  return { row: startedRow(event, fields), event }
}

describe("a row of the table of executions", () => {
  test("says of a running command what its start says", () => {
    const change = { correlationIds: { runId: "run_9", sessionId: "ses_1", taskId: "tsk_1" } }
    expect(rowOf("exe_a", change).row).toEqual({
      id: "exe_a",
      stream: "exe_a",
      started_position: 7,
      finished_position: null,
      command_line: "npm test",
      run_id: "run_9",
      session_id: "ses_1",
      task_id: "tsk_1",
      start_time: "2026-01-02T03:04:05.000Z",
      ending: null,
      exit_code: null,
      success: null,
      duration_ms: null,
    })
  })

  test("says of an ended command how it ended, in one spelling of time", () => {
    const { row, event } = rowOf("exe_a")
    const change = {
      result: {
        ending: "timedOut" as const,
        success: false,
        exitCode: null,
        startTime: "2026-01-02T03:04:05Z",
      },
    }
    const data = executionOutcome(recordOf("exe_a", change), { stdout: null, stderr: null }, noArtifacts, {
      inlineBytesMax: 10,
      includeOutput: false,
    })
    expect(finishedRow(row, { ...event, position: 9 }, data)).toEqual({
      ...row,
      finished_position: 9,
      start_time: "2026-01-02T03:04:05.000Z",
      ending: "timedOut",
      exit_code: null,
      success: 0,
      duration_ms: 500,
    })
  })

  test.each([
    [{ executable: "git", arguments: ["commit", "-m", "a b"] }, "git commit -m 'a b'"],
    [{ executable: "echo a | wc", arguments: [], shell: true }, "echo a | wc"],
    [{ executable: "x", arguments: ["'"] }, "x ''\\'''"],
  ])("%j is shown as %p", (command, line) => {
    expect(rowOf("exe_a", { command }).row.command_line).toBe(line)
  })

  test("holds the beginning of an endless command line", () => {
    const line = rowOf("exe_a", { command: { arguments: ["x".repeat(3994), "😀".repeat(9000)] } }).row
      .command_line
    expect(line.length).toBeLessThanOrEqual(4000)
    expect(line.isWellFormed()).toBe(true)
  })
})

describe("the projection", () => {
  test("follows the log in the same commit", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = runOne(store)
    using db = new Database(fixture.options.databasePath)
    const [started, finished] = store.log.read(id)
    const start = started && startedFields(started)
    const finish = finished && finishedFields(finished)
    if (!started || !start || !finished || !finish) throw new Error("two events are expected")
    expect(db.query("SELECT * FROM executions").all()).toEqual([
      { ...finishedRow(startedRow(started, start), finished, finish) },
    ])
  })

  test("is about executions inside a session too, by their own ids", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = store.leases.acquire("ses_a", fixture.options.self)?.epoch ?? 0
    const id = nextId()
    const outcome = executionOutcome(recordOf(id), { stdout: null, stderr: null }, store.artifacts, {
      inlineBytesMax: 10,
      includeOutput: true,
    })
    store.log.append("ses_a", 0, epoch, [newEvent(CommandStarted, startOf(id))])
    store.log.append("ses_a", 1, epoch, [newEvent(CommandFinished, outcome)])
    expect(store.executions.show(id)).toEqual(recordOf(id))
    expect(store.verify().ok).toBe(true)
  })

  test("an execution cannot be finished twice or without a start", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = store.leases.acquire("ses_a", fixture.options.self)?.epoch ?? 0
    const id = runOne(store)
    const outcome = (of: string) =>
      newEvent(
        CommandFinished,
        executionOutcome(recordOf(of), { stdout: null, stderr: null }, store.artifacts, {
          inlineBytesMax: 10,
          includeOutput: true,
        }),
      )
    expect(() => store.log.append("ses_a", 0, epoch, [outcome(id)])).toThrow("finished once")
    expect(() => store.log.append("ses_a", 0, epoch, [outcome("exe_nobody")])).toThrow("finished once")
    expect(store.log.read("ses_a")).toEqual([])
  })
})
