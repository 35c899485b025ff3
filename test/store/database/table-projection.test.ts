import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import type { StoredEvent } from "../../../src/store/contract.ts"
import type { DatabaseConnection } from "../../../src/store/database/database.ts"
import {
  countRows,
  matchingIds,
  readRow,
  type TableRow,
  tableProjection,
} from "../../../src/store/database/table-projection.ts"

interface Light extends TableRow {
  readonly id: string
  readonly position: number
  readonly switched: number
  readonly color: string | null
}

/** Lamps that are switched; each switching leaves a mark. */
const lights = tableProjection<Light>({
  table: "lights",
  createdBy: "lamp.switched",
  eventTypes: new Set(["lamp.switched"]),
  positionColumn: "position",
  idOf: event => (event.type === "lamp.switched" ? event.stream : null),
  next: (row, event) => {
    if (row === null && event.seq > 1) return null
    const { position, switched, color } = row ?? { position: event.position, switched: 0, color: null }
    return { id: event.stream, position, switched: switched + 1, color: color ?? String(event.data) }
  },
  isFinal: row => row.switched === 3,
  detailTables: ["marks"],
  detailsOf: (row, event) => [
    { table: "marks", cells: { id: row.id, position: row.position, seq: event.seq } },
  ],
})

function memory(): DatabaseConnection {
  const db = new Database(":memory:")
  db.run("CREATE TABLE lights (id TEXT PRIMARY KEY, position INTEGER, switched INTEGER, color TEXT)")
  db.run("CREATE TABLE marks (id TEXT, position INTEGER, seq INTEGER)")
  return {
    db,
    path: ":memory:",
    readOnly: false,
    transaction: (_name, work) => work(),
    snapshot: work => work(),
    [Symbol.dispose]: () => db.close(),
  }
}

let position = 0

function switched(stream: string, seq: number, type = "lamp.switched"): StoredEvent {
  position += 1
  const fields = { epoch: 1, at: "", version: 1, data: `color ${seq}`, prevHash: "", hash: "" }
  return { stream, seq, position, type, ...fields }
}

const events = [switched("a", 1), switched("b", 1), switched("a", 2), switched("a", 3), switched("c", 2)]

function filled(): DatabaseConnection {
  const connection = memory()
  const projector = lights.projector(connection)
  for (const event of events) projector.apply(event)
  return connection
}

function problems(connection: DatabaseConnection, seen = events, behind = 0): string[] {
  const found: string[] = []
  const report = (event: StoredEvent | null, what: string) =>
    found.push(`${event?.stream}/${event?.seq} ${what}`)
  const check = lights.check(connection, report, behind)
  for (const event of seen) check.apply(event)
  check.end()
  return found
}

describe("a table that follows the log", () => {
  test("has the row each thing's events make, and the details of each event", () => {
    using connection = filled()
    expect(readRow(connection, "lights", "a")).toEqual({
      id: "a",
      position: 1,
      switched: 3,
      color: "color 1",
    })
    expect(readRow(connection, "lights", "b")).toEqual({
      id: "b",
      position: 2,
      switched: 1,
      color: "color 1",
    })
    expect(countRows(connection, "marks", { column: "position", behind: 0 })).toBe(4)
  })

  test("has no row for events that make none or concern something else", () => {
    using connection = filled()
    lights.projector(connection).apply(switched("d", 1, "lamp.bought"))
    expect([readRow(connection, "lights", "c"), readRow(connection, "lights", "d")]).toEqual([null, null])
  })
})

describe("comparing such a table with the log", () => {
  test("finds nothing wrong when nothing was changed", () => {
    using connection = filled()
    expect(problems(connection)).toEqual([])
  })

  test("finds nothing wrong with half a character, which a table holds as the mark of one", () => {
    using connection = memory()
    const half = { ...switched("h", 1), data: "\ud83d" }
    lights.projector(connection).apply(half)
    expect(readRow(connection, "lights", "h")).toMatchObject({ id: "h", switched: 1, color: "\ufffd" })
    expect(problems(connection, [half])).toEqual([])
  })

  test("finds nothing wrong in rows that were created before the events", () => {
    using connection = filled()
    connection.db.run("UPDATE lights SET color = 'x' WHERE id = 'a'")
    expect(problems(connection, events.slice(1), 1)).toEqual([])
    connection.db.run("DELETE FROM lights WHERE id = 'b'")
    expect(problems(connection, events.slice(1), 1)).toHaveLength(2)
  })

  test.each([
    [
      "a changed row that is final",
      "UPDATE lights SET color = 'x' WHERE id = 'a'",
      "a/3 the table lights does not match",
    ],
    [
      "a changed row that may still change",
      "UPDATE lights SET switched = 9 WHERE id = 'b'",
      "b/1 the table lights does",
    ],
    ["a changed detail", "UPDATE marks SET seq = 7 WHERE seq = 2", "a/2 the table marks does not match"],
    [
      "a row too many",
      "INSERT INTO lights VALUES ('x', 1, 1, '')",
      "undefined/undefined the table lights has 3 rows",
    ],
    [
      "a detail too many",
      "INSERT INTO marks VALUES ('a', 1, 1)",
      "undefined/undefined the table marks has 5 rows",
    ],
  ])("finds %s", (_name, sql, expected) => {
    using connection = filled()
    connection.db.run(sql)
    expect(problems(connection)).toHaveLength(1)
    expect(problems(connection)[0]).toStartWith(expected)
  })

  test("finds a row that is gone", () => {
    using connection = filled()
    connection.db.run("DELETE FROM lights WHERE id = 'b'")
    expect(problems(connection)).toHaveLength(2)
  })
})

describe("ids that match", () => {
  test("start or end with what was typed, without patterns", () => {
    using connection = memory()
    for (const id of ["x_1", "x_12", "x_3%", "y_1"])
      connection.db.run(`INSERT INTO lights VALUES ('${id}', 1, 0, '')`)
    expect(matchingIds(connection, "lights", "x_")).toEqual(["x_1", "x_12", "x_3%"])
    expect(matchingIds(connection, "lights", "_1")).toEqual(["x_1", "y_1"])
    expect(matchingIds(connection, "lights", "x_1")).toEqual(["x_1"])
    expect(matchingIds(connection, "lights", "%")).toEqual(["x_3%"])
    expect(matchingIds(connection, "lights", "")).toEqual([])
    expect(matchingIds(connection, "lights", "x_12345")).toEqual([])
  })
})
