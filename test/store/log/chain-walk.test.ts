import { describe, expect, test } from "bun:test"
import type { Anchor } from "../../../src/store/log/anchors.ts"
import { eventHash, firstHead, nextHead } from "../../../src/store/log/chain.ts"
import { ChainWalk } from "../../../src/store/log/chain-walk.ts"
import type { EventRow } from "../../../src/store/log/event-rows.ts"
import type { Tombstone } from "../../../src/store/log/tombstones.ts"

const identity = { workspaceId: "wsp_a", key: new Uint8Array(32).fill(3) }

/** A genuine log made by hand: each entry is the stream of the next event. */
function logOf(streams: readonly string[], change: (row: EventRow) => Partial<EventRow> = () => ({})) {
  const tails = new Map<string, EventRow>()
  const heads = [firstHead(identity.key, identity.workspaceId)]
  const rows = streams.map((stream, index) => {
    const previous = tails.get(stream)
    const draft: EventRow = {
      stream,
      seq: (previous?.seq ?? 0) + 1,
      position: index + 1,
      epoch: 1,
      at: "2026-01-02T03:04:05.678Z",
      type: "session.noted",
      version: 1,
      data: "{}",
      prevHash: previous?.hash ?? "",
      hash: "",
    }
    const changed = { ...draft, ...change(draft) }
    const row = { ...changed, hash: eventHash(identity.key, changed) }
    tails.set(stream, row)
    heads.push(nextHead(identity.key, heads.at(-1) ?? "", row.position, row.hash))
    return row
  })
  return { rows, heads, tail: { position: rows.length, head: heads.at(-1) ?? "" } }
}

function problemsOf(
  rows: readonly EventRow[],
  tail: { position: number; head: string } | null,
  tombstones: readonly Tombstone[] = [],
  anchors: readonly Anchor[] = [],
) {
  const walk = new ChainWalk(
    identity,
    tombstones,
    Map.groupBy(anchors, anchor => anchor.position),
  )
  for (const row of rows) walk.check(row)
  walk.end(tail)
  return walk.problems.map(({ position, what }) => `${position} ${what}`)
}

const anchor = (position: number, head: string): Anchor => ({
  position,
  head,
  at: "noon",
  root: "/",
  mac: "",
})
const tombstone = ({ stream, position, hash }: EventRow): Tombstone => ({ stream, position, hash })

describe("a walk over a log", () => {
  test("finds nothing wrong with a genuine one, and counts it", () => {
    const { rows, tail } = logOf(["a", "b", "a", "a", "b"])
    const walk = new ChainWalk(identity, [], new Map())
    for (const row of rows) walk.check(row)
    walk.end(tail)
    expect([walk.problems, walk.eventCount, walk.streamCount]).toEqual([[], 5, 2])
  })

  test("finds nothing wrong with an empty one", () => {
    expect(problemsOf([], logOf([]).tail)).toEqual([])
  })

  test("reports a log of another workspace by its first head", () => {
    const { rows, tail } = logOf(["a"])
    const walk = new ChainWalk({ ...identity, workspaceId: "wsp_b" }, [], new Map())
    for (const row of rows) walk.check(row)
    walk.end(tail)
    expect(walk.problems.map(problem => problem.what)).toEqual([
      "the head of the log does not match its events",
    ])
  })

  test("reports many missing events as one, even absurdly many", () => {
    const { rows, tail } = logOf(["a", "b", "c", "d", "e"])
    expect(problemsOf(rows.slice(0, 1), tail)).toEqual(["2 4 events are missing from here"])
    const far = { ...tail, position: 2 ** 52 }
    expect(problemsOf(rows, far)).toEqual([`6 ${2 ** 52 - 5} events are missing from here`])
  })

  test("names the stream and the number of an event that does not fit", () => {
    const { rows, tail } = logOf(["a", "b"])
    const walk = new ChainWalk(identity, [], new Map())
    for (const row of rows) walk.check(row.stream === "b" ? { ...row, data: "[]" } : row)
    walk.end(tail)
    expect(walk.problems).toEqual([
      { stream: "b", seq: 1, position: 2, what: "its content does not match its signature" },
    ])
  })

  test("does not accept a genuine signature under a wrong number, link or owner", () => {
    const wrong = (change: (row: EventRow) => Partial<EventRow>) => {
      const { rows, tail } = logOf(["a", "a", "a"], change)
      return problemsOf(rows, tail)
    }
    const third = (change: Partial<EventRow>) => (row: EventRow) => (row.position === 3 ? change : {})
    expect(wrong(third({ seq: 4 }))).toEqual(["3 its stream continues with number 3 here"])
    expect(wrong(third({ prevHash: "00" }))).toEqual([
      "3 it does not follow the event before it in its stream",
    ])
    expect(wrong(row => (row.position === 1 ? { epoch: 2 } : { epoch: row.position - 1 }))).toEqual([
      "2 its writer had lost the lease of the stream before it was written",
    ])
  })

  test("an answer that was given again follows the first one in its stream", () => {
    const whole = logOf(["apr_a", "ses_a", "apr_b", "apr_a"])
    expect(problemsOf(whole.rows, whole.tail)).toEqual([])
    const apart = logOf(["apr_a", "ses_a", "apr_a"], row =>
      row.position === 3 ? { seq: 1, prevHash: "" } : {},
    )
    expect(problemsOf(apart.rows, apart.tail)).toEqual(["3 its stream continues with number 2 here"])
  })

  test("accepts no event in an execution that has ended", () => {
    const { rows, tail } = logOf(["exe_a", "exe_a", "exe_a"], row =>
      row.position === 2 ? { type: "command.finished" } : {},
    )
    expect(problemsOf(rows, tail)).toEqual(["3 its stream continues with number 1 here"])
  })
})

describe("pruned events", () => {
  test("are bridged by their tombstones, at the beginning, in the middle and at the end", () => {
    const { rows, tail } = logOf(["a", "b", "c", "a", "d"])
    const pruned = rows.filter(row => row.stream !== "c")
    expect(
      problemsOf(
        rows.filter(row => row.stream === "c"),
        tail,
        pruned.map(tombstone),
      ),
    ).toEqual([])
    expect(problemsOf([], tail, rows.map(tombstone))).toEqual([])
  })

  test("are missing when a tombstone is", () => {
    const { rows, tail } = logOf(["a", "b", "c", "d"])
    const tombstones = rows.slice(0, 3).filter(row => row.stream !== "b")
    expect(problemsOf(rows.slice(3), tail, tombstones.map(tombstone))).toEqual(["2 this event is missing"])
  })

  test("with another hash do not lead to the head", () => {
    const { rows, tail } = logOf(["a", "b"])
    const forged = rows.slice(0, 1).map(row => ({ ...tombstone(row), hash: "00" }))
    expect(problemsOf(rows.slice(1), tail, forged)).toEqual([
      "2 the head of the log does not match its events",
    ])
  })

  test("that are there again are reported", () => {
    const { rows, tail } = logOf(["a", "b", "c"])
    expect(problemsOf(rows, tail, rows.slice(1, 2).map(tombstone))).toEqual([
      "2 it was pruned, and is present again",
    ])
  })
})

describe("anchors", () => {
  test("that fit are silent, the one of an empty log included", () => {
    const { rows, heads, tail } = logOf(["a", "b", "a"])
    expect(
      problemsOf(
        rows,
        tail,
        [],
        heads.map((head, position) => anchor(position, head)),
      ),
    ).toEqual([])
  })

  test("of another history at the same position are reported once, where it first differs", () => {
    const { rows, heads, tail } = logOf(["a", "b", "a"])
    const anchors = [anchor(1, heads[1] ?? ""), anchor(2, "00"), anchor(3, "00")]
    expect(problemsOf(rows, tail, [], anchors)).toEqual([
      "2 up to here the log differs from the one that was anchored at noon",
    ])
  })

  test("beyond the end tell of a log that was cut short or restored", () => {
    const { rows, heads } = logOf(["a", "b", "a"])
    const older = { position: 1, head: heads[1] ?? "" }
    const what = "the log ends at position 1, but position 3 was anchored at noon"
    const anchors = [anchor(1, heads[1] ?? ""), anchor(2, heads[2] ?? ""), anchor(3, heads[3] ?? "")]
    expect(problemsOf(rows.slice(0, 1), older, [], anchors)).toEqual([
      `2 ${what}: it was truncated, or an older copy was restored`,
    ])
  })

  test("are not asked once the events themselves are wrong", () => {
    const { rows, heads, tail } = logOf(["a", "b", "a"])
    const changed = rows.map(row => (row.position === 1 ? { ...row, data: "[]" } : row))
    expect(problemsOf(changed, tail, [], [anchor(2, heads[2] ?? "")])).toEqual([
      "1 its content does not match its signature",
    ])
  })
})
