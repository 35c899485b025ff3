import { describe, expect, test } from "bun:test"
import { hmacHex, sha256Hex } from "../../src/base/canonical.ts"
import { noFaults } from "../../src/base/faults.ts"
import type { AuditProblem } from "../../src/store/contract.ts"
import { openDatabase } from "../../src/store/database/database.ts"
import { eventHash, nextHead } from "../../src/store/log/chain.ts"
import { ChainWalk } from "../../src/store/log/chain-walk.ts"
import { findTail, type LogTail } from "../../src/store/log/event-log.ts"
import { type EventRow, eventColumns } from "../../src/store/log/event-rows.ts"
import { readKey } from "../../src/store/log/keys.ts"
import { readTombstones } from "../../src/store/log/tombstones.ts"
import { writeLongLog } from "./support/long-log.ts"
import { storeFixture } from "./support/store-fixture.ts"
import { flipped } from "./support/tampering.ts"

/** The log of 300 events, in memory. */
const { rows, tail, identity, tombstones } = (() => {
  using fixture = storeFixture()
  const store = fixture.open()
  writeLongLog(store, fixture)
  const { databasePath: path, keysDirectory } = fixture.options
  using connection = openDatabase({ path, readOnly: true, busyTimeoutMs: 100, faults: noFaults })
  return {
    rows: connection.db.query<EventRow, []>(`SELECT ${eventColumns} FROM events ORDER BY position`).all(),
    tail: findTail(connection),
    identity: { workspaceId: store.workspaceId, key: readKey(keysDirectory, store.workspaceId) },
    tombstones: readTombstones(connection),
  }
})()

/** The walk as it stands before each row: what follows is tried from there, and 5,000 changes take a second. */
const before: ChainWalk[] = [new ChainWalk(identity, tombstones, new Map())]
for (const row of rows) {
  const walk = fork(before.at(-1))
  walk.check(row)
  before.push(walk)
}

function fork(walk: ChainWalk | undefined): ChainWalk {
  if (walk === undefined) throw new Error("there is no such place")
  const tails = new Map(Reflect.get(walk, "tails"))
  return Object.assign(Object.create(ChainWalk.prototype), walk, { problems: [...walk.problems], tails })
}

/** Goes on from before row `from` over what is said to follow, up to the first problem. */
function firstProblem(
  from: number,
  following: Iterable<EventRow>,
  end: LogTail | null = tail,
): AuditProblem | null {
  const walk = fork(before[from])
  for (const row of following) {
    walk.check(row)
    if (walk.problems[0] !== undefined) return walk.problems[0]
  }
  walk.end(end)
  return walk.problems[0] ?? null
}

type Change = (
  row: EventRow,
  index: number,
  rest: readonly EventRow[],
) => { rows: Iterable<EventRow>; named: number } | null

/** Every row is changed in turn. A change may move a row before its neighbour, so the walk starts one row earlier. */
function missedBy(change: Change): string[] {
  return rows.flatMap((row, index) => {
    const from = Math.max(0, index - 1)
    const changed = change(row, index, rows.slice(index + 1))
    if (changed === null) return []
    const lead = index > 0 ? rows.slice(index - 1, index) : []
    const following = [...lead, ...changed.rows].sort((a, b) => a.position - b.position)
    const found = firstProblem(from, following)
    return found?.position === changed.named ? [] : [`${row.position}: ${JSON.stringify(found)}`]
  })
}

const fields = [
  "stream",
  "seq",
  "position",
  "epoch",
  "at",
  "type",
  "version",
  "data",
  "prevHash",
  "hash",
] as const
const last = rows.at(-1)?.position ?? 0

describe("on a log of 300 events", () => {
  test("there are 300, pruned ones before them, and untouched they verify", () => {
    expect([rows.length, tombstones.length, last]).toEqual([300, 60, 360])
    expect(firstProblem(0, rows)).toBeNull()
    expect(before.at(-1)?.problems).toEqual([])
  })

  test.each([...fields])("one bit flipped in %s of any row is found, and the row named", field => {
    const missed = missedBy((row, _index, rest) => {
      const value = flipped(row[field])
      const named = field === "position" ? Math.min(row.position, Number(value)) : row.position
      return { rows: [{ ...row, [field]: value }, ...rest], named }
    })
    expect(missed).toEqual([])
  })

  test("any bit flipped in any hash is found", () => {
    const missed = [5, 100, 250].flatMap(index => {
      const row = rows[index]
      if (row === undefined) return []
      return Array.from({ length: 256 }, (_, bit) => {
        const hash = Buffer.from(row.hash, "hex")
        hash[bit >> 3] = (hash[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return firstProblem(index, [{ ...row, hash: hash.toString("hex") }, ...rows.slice(index + 1)])
      }).filter(found => found?.position !== row.position)
    })
    expect(missed).toEqual([])
  })

  test("any row deleted is found, and its place named", () => {
    expect(missedBy((row, _index, rest) => ({ rows: rest, named: row.position }))).toEqual([])
  })

  test("any two neighbours swapped are found, and the first named", () => {
    const missed = missedBy((row, _index, [next, ...rest]) => {
      if (next === undefined) return null
      const swapped = [
        { ...next, position: row.position },
        { ...row, position: next.position },
      ]
      return { rows: [...swapped, ...rest], named: row.position }
    })
    expect(missed).toEqual([])
  })

  test("any row duplicated is found, in its place and at the end", () => {
    const there = missedBy((row, _index, rest) => ({ rows: [row, row, ...rest], named: row.position }))
    const behind = missedBy((row, _index, rest) => {
      const copy = { ...row, position: last + 1 }
      return { rows: [row, ...rest, copy], named: last + 1 }
    })
    expect([...there, ...behind]).toEqual([])
  })

  test("any row changed and hashed again without the key is found, also when its successors are mended", () => {
    const forgeries = [
      (row: EventRow) => sha256Hex(row.data),
      (row: EventRow) => eventHash(new Uint8Array(32), row),
      (row: EventRow) => hmacHex(new Uint8Array(), [row.data, row.prevHash]),
    ]
    const missed = forgeries.flatMap(forge =>
      missedBy((row, _index, rest) => {
        const changed = { ...row, data: row.data.replace("{", '{"forged":true,') }
        const hash = forge(changed)
        const mended = rest.map(next => (next.prevHash === row.hash ? { ...next, prevHash: hash } : next))
        return { rows: [{ ...changed, hash }, ...mended], named: row.position }
      }),
    )
    expect(missed).toEqual([])
  })

  test("any row replaced by a genuine one of another stream is found, however it is dressed", () => {
    const missed = [0, 1, 2].flatMap(dress =>
      missedBy((row, index, rest) => {
        const donor = rows[(index + 150) % rows.length]
        if (donor === undefined || donor.stream === row.stream) return null
        const { position, stream, seq, prevHash } = row
        const dressed = [{ position }, { position, stream, seq, prevHash }, { position, data: row.data }][
          dress
        ]
        return { rows: [{ ...donor, ...dressed }, ...rest], named: position }
      }),
    )
    expect(missed).toEqual([])
  })

  test("any stream deleted whole is found, and its first event named", () => {
    const streams = [...new Set(rows.map(row => row.stream))]
    const missed = streams.filter(stream => {
      const first = rows.findIndex(row => row.stream === stream)
      const found = firstProblem(
        first,
        rows.slice(first).filter(row => row.stream !== stream),
      )
      return found?.position !== rows[first]?.position
    })
    expect(missed).toEqual([])
  })

  test("cut short at any point it is found, whatever its head is made to say", () => {
    const missed = rows.flatMap((row, index) => {
      const at = row.position - 1
      const heads = [tail, tail && { ...tail, position: at }, { position: at, head: "0".repeat(64) }]
      return heads
        .map(head => firstProblem(index, [], head))
        .filter(found => found === null || (found.position !== at && found.position !== at + 1))
    })
    expect(missed).toEqual([])
  })

  test("an event added without the key is found, whatever it is linked to", () => {
    const end = rows.at(-1)
    if (end === undefined || tail === null) throw new Error("the log is empty")
    const forged = { ...end, seq: 2, position: last + 1, prevHash: end.hash, data: "{}" }
    const hash = eventHash(new Uint8Array(32), forged)
    const head = nextHead(new Uint8Array(32), tail.head, forged.position, hash)
    const found = firstProblem(rows.length, [{ ...forged, hash }], { position: forged.position, head })
    expect(found?.position).toBe(last + 1)
  })
})
