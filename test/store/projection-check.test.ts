import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { noFaults } from "../../src/base/faults.ts"
import { openDatabase } from "../../src/store/database/database.ts"
import { projectionProblems } from "../../src/store/projection-check.ts"
import { nextId, runOne, startOf, storeFixture } from "./support/store-fixture.ts"

function filled() {
  const fixture = storeFixture()
  const store = fixture.open({ inlineBytesMax: 10 })
  const ids = [runOne(store), runOne(store, { result: { stdout: "x".repeat(50) } }), nextId()]
  store.executions.started(startOf(ids[2] ?? ""))
  const { databasePath: path } = fixture.options
  const connection = openDatabase({ path, readOnly: true, busyTimeoutMs: 100, faults: noFaults })
  return {
    ids,
    problems: () => projectionProblems(connection),
    change: (sql: string) => {
      using db = new Database(path)
      db.run(sql)
    },
    [Symbol.dispose]: () => {
      connection[Symbol.dispose]()
      fixture[Symbol.dispose]()
    },
  }
}

describe("comparing the tables with the events", () => {
  test("finds nothing wrong when nothing was changed", () => {
    using at = filled()
    expect(at.problems()).toEqual([])
  })

  const columns = ["stream", "command_line", "run_id", "session_id", "task_id", "start_time", "ending"]

  test.each(columns)("finds a changed %s, and names the event that says otherwise", column => {
    using at = filled()
    at.change(`UPDATE executions SET ${column} = 'other' WHERE id = '${at.ids[1]}'`)
    expect(at.problems()).toEqual([
      {
        stream: at.ids[1] ?? "",
        seq: 2,
        position: 4,
        what: "the table of executions does not match this event",
      },
    ])
  })

  test.each(["started_position", "finished_position", "exit_code", "success", "duration_ms"])(
    "finds a changed %s",
    column => {
      using at = filled()
      at.change(`UPDATE executions SET ${column} = 77 WHERE id = '${at.ids[0]}'`)
      expect(at.problems()).toMatchObject([{ stream: at.ids[0] ?? "", seq: 2 }])
    },
  )

  test("finds a running command that is shown as ended", () => {
    using at = filled()
    at.change(`UPDATE executions SET ending = 'exited', finished_position = 5 WHERE id = '${at.ids[2]}'`)
    expect(at.problems()).toMatchObject([{ stream: at.ids[2] ?? "", seq: 1 }])
  })

  test("finds a row that is gone, and one that no event explains", () => {
    using at = filled()
    at.change(`DELETE FROM executions WHERE id = '${at.ids[0]}'`)
    expect(at.problems()).toMatchObject([
      { stream: at.ids[0] ?? "", seq: 2 },
      { stream: null, what: "the table executions has 2 rows, but its events make 3" },
    ])
    at.change(
      `INSERT INTO executions (id, stream, started_position, command_line, run_id, start_time)
       VALUES ('x', 'x', 1, 'x', 'x', 'x')`,
    )
    expect(at.problems()).toHaveLength(1)
  })

  test("finds a reference to an artifact that is gone or invented", () => {
    using at = filled()
    at.change("UPDATE artifact_references SET ref = 'sha256:other'")
    expect(at.problems()).toMatchObject([{ stream: at.ids[1] ?? "", seq: 2 }])
    at.change("INSERT INTO artifact_references VALUES ('sha256:more', 1)")
    expect(at.problems().at(-1)?.what).toBe("the table artifact_references has 2 rows, but its events make 1")
  })
})
