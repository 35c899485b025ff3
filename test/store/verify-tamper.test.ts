import { afterAll, describe, expect, test } from "bun:test"
import { writeLongLog } from "./support/long-log.ts"
import { storeFixture } from "./support/store-fixture.ts"
import { columns, flipped, insertRow, overwrite, type RawEvent, tampering } from "./support/tampering.ts"

/** What chain-walk-tamper tries on every row in memory is tried here on some rows in the file itself. */
const fixture = storeFixture()
const store = fixture.open()
writeLongLog(store, fixture)
const tamper = tampering(fixture, store.workspaceId)
const { db, rows, report } = tamper

afterAll(() => {
  tamper[Symbol.dispose]()
  fixture[Symbol.dispose]()
})

const sampled = rows.filter(
  (row, index) => index % 25 === 0 || index >= rows.length - 2 || row.position === 61,
)
const last = rows.at(-1)?.position ?? 0
const update = (column: string, value: string | number, position: number) =>
  db.query(`UPDATE events SET ${column} = ? WHERE position = ?`).run(value, position)

/** Rows whose change was not found, or after which another place was named than allowed. */
function missedBy(change: (row: RawEvent) => void, named: (row: RawEvent) => readonly number[]): string[] {
  return sampled.flatMap(row => {
    const found = report(() => change(row))
    // The one prune is the first row: without its word everything it removed is missing, from 1 on.
    const allowed = row.stream.startsWith("prn_") ? [...named(row), 1] : named(row)
    const position = found.problems[0]?.position
    return !found.ok && allowed.includes(Number(position))
      ? []
      : [`${row.position}: ${JSON.stringify(found.problems)}`]
  })
}

describe("in the file of a log of 300 events", () => {
  test("nothing is wrong", () => {
    expect(report(() => undefined)).toMatchObject({ ok: true, events: 300, problems: [] })
  })

  test.each([...columns])("a bit flipped in %s is found", column => {
    const missed = missedBy(
      row => update(column, flipped(row[column]), row.position),
      row => [column === "position" ? Math.min(row.position, row.position ^ 1) : row.position],
    )
    expect(missed).toEqual([])
  })

  test("a deleted row is found", () => {
    const change = ({ position }: RawEvent) => db.query("DELETE FROM events WHERE position = ?").run(position)
    expect(missedBy(change, row => [row.position])).toEqual([])
  })

  test("a duplicated row is found", () => {
    const inPlace = missedBy(
      row => insertRow(db, row),
      row => [row.position],
    )
    const behind = missedBy(
      row => insertRow(db, { ...row, position: last + 1 }),
      () => [last + 1],
    )
    expect([...inPlace, ...behind]).toEqual([])
  })

  test("a row put in the place of another is found", () => {
    const donor = rows[42]
    if (donor === undefined) throw new Error("the log is shorter than expected")
    expect(
      missedBy(
        row => overwrite(db, row.position, donor),
        row => [row.position],
      ),
    ).toEqual([])
  })

  const texts = columns.filter(column => typeof rows[0]?.[column] === "string")

  test.each(texts)("a BLOB with the very bytes of the text in %s is found", column => {
    const missed = missedBy(
      row =>
        db
          .query(`UPDATE events SET ${column} = CAST(${column} AS BLOB) WHERE position = ?`)
          .run(row.position),
      row => [row.position],
    )
    expect(missed).toEqual([])
  })

  test("a log cut short is found, with and without a head that says so", () => {
    const cut = (position: number) => db.query("DELETE FROM events WHERE position > ?").run(position)
    const cuts = sampled.filter(row => row.position < last)
    const plain = cuts.filter(
      row => report(() => cut(row.position)).problems[0]?.position !== row.position + 1,
    )
    const dressed = cuts.filter(row => {
      const change = () => {
        cut(row.position)
        db.query("UPDATE log_head SET position = ?").run(row.position)
      }
      return report(change).problems[0]?.position !== row.position
    })
    expect([...plain, ...dressed]).toEqual([])
  })

  test("a head that was moved, changed or removed is found", () => {
    const changes = [
      "UPDATE log_head SET position = position + 1",
      "UPDATE log_head SET position = position - 1",
      "UPDATE log_head SET position = 4503599627370496",
      "UPDATE log_head SET head = lower(hex(randomblob(32)))",
      "DELETE FROM log_head",
    ]
    expect(changes.filter(sql => report(() => db.run(sql)).ok)).toEqual([])
  })

  test("a tombstone that was changed is found", () => {
    const prune = rows[0]
    const [hash] = /[0-9a-f]{64}/.exec(prune?.data ?? "") ?? [""]
    const change = () => update("data", (prune?.data ?? "").replace(hash, "0".repeat(64)), 61)
    expect(report(change).problems[0]).toMatchObject({ position: 61 })
  })

  test("a row that was pruned and is restored is found", () => {
    const donor = rows[5]
    if (donor === undefined) throw new Error("the log is shorter than expected")
    expect(report(() => insertRow(db, { ...donor, position: 7 })).problems[0]).toMatchObject({ position: 7 })
  })

  test("a projection that says something else than its events is found", () => {
    const changes = [
      "UPDATE executions SET exit_code = 7 WHERE id = (SELECT min(id) FROM executions)",
      "UPDATE executions SET command_line = 'rm -rf /' WHERE finished_position IS NULL",
      "UPDATE executions SET ending = 'exited' WHERE finished_position IS NULL",
      "DELETE FROM executions WHERE id = (SELECT max(id) FROM executions)",
      `INSERT INTO executions
       SELECT 'exe_forged', stream, 1, 2, 'x', run_id, null, null, '', 'exited', 0, 1, 0 FROM executions LIMIT 1`,
      `INSERT INTO artifact_references VALUES ('sha256:${"0".repeat(64)}', 70)`,
    ]
    expect(changes.filter(sql => report(() => db.run(sql)).ok)).toEqual([])
  })
})
