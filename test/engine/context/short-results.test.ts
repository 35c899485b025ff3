import { expect, test } from "bun:test"
import type { PipelineState, Turn } from "../../../src/domain/pipeline/state.ts"
import { newlyShort } from "../../../src/engine/context/shown-result.ts"
import { callOf, selectionOf, stateOf, turnOf } from "../stages/support.ts"

/** One result of so many characters in each turn; the number of a turn is also its place in the log. */
function turnsOf(...lengths: readonly number[]): readonly Turn[] {
  return lengths.map((length, at) =>
    turnOf({ turn: at + 1, seq: at + 1, calls: [callOf(`c${at}`, "run_command", "x".repeat(length))] }),
  )
}

function shortIn(turns: readonly Turn[], turnSeq: number, windowTokens: number | null = null) {
  const state = stateOf({ turns, told: { turnSeq, windowTokens: null, leftOut: [] } })
  if (windowTokens === null) return newlyShort(state)
  return newlyShort(withWindow(state, windowTokens))
}

function withWindow(state: PipelineState, windowTokens: number): PipelineState {
  return { ...state, settings: { ...state.settings, selection: selectionOf({ windowTokens }) } }
}

const nothing = { parts: [], tokens: 0 }

test("ten results are shown, and five that the fifteenth makes old are newly left out", () => {
  const results = (count: number) => turnsOf(...Array.from({ length: count }, () => 4_000))
  for (const count of [10, 11, 14, 16, 19]) expect(shortIn(results(count), count - 1)).toEqual(nothing)
  for (const count of [15, 20]) {
    const { parts, tokens } = shortIn(results(count), count - 1)
    expect(parts).toEqual(Array(5).fill("oldResults"))
    expect(tokens).toBeWithin(4_500, 6_000)
  }
})

test("what the request before did not tell either is not newly left out", () => {
  const many = turnsOf(...Array.from({ length: 15 }, () => 4_000))
  expect(shortIn(many, 14).parts).toHaveLength(5)
  const failure = { kind: "timeout", message: "", retryable: true, retryAfterMs: null }
  expect(shortIn([...many, turnOf({ turn: 16, seq: 16, failure })], 15)).toEqual(nothing)
  expect(shortIn([...many, turnOf({ turn: 16, seq: 16, failure })], 16)).toEqual(nothing)
})

test("a short result stays, however old it is", () => {
  expect(shortIn(turnsOf(...Array.from({ length: 15 }, () => 150)), 14)).toEqual(nothing)
})

test("a result beyond its share is newly cut when it is first told, and newly left out when it is old", () => {
  const long = turnsOf(60_000, ...Array.from({ length: 14 }, () => 10))
  const cut = shortIn(long.slice(0, 1), 0)
  expect(cut.parts).toEqual(["longResults"])
  expect(shortIn(long.slice(0, 2), 1)).toEqual(nothing)
  const old = shortIn(long, 14)
  expect(old.parts).toEqual(["oldResults"])
  // What was cut before is not counted twice.
  expect(cut.tokens + old.tokens).toBeLessThan(60_000 / 3)
  expect(old.tokens).toBeLessThan(10_000)
})

test("a turn with more results than are shown leaves out its own first ones", () => {
  const calls = Array.from({ length: 17 }, (_, at) => callOf(`c${at}`, "glob", "x".repeat(900)))
  expect(shortIn([turnOf({ seq: 1, calls })], 0).parts).toEqual(Array(5).fill("oldResults"))
})

test("another model with a smaller window is told less of what was told", () => {
  const told = turnsOf(20_000, 20_000, 300)
  expect(shortIn(told, 3)).toEqual(nothing)
  expect(shortIn(told, 3, 8_192).parts).toEqual(["longResults", "longResults"])
})
