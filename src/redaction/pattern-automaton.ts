import { wordBytes } from "../base/byte-sets.ts"
import type { Pattern } from "./pattern-syntax.ts"

/** Finds a pattern in bytes in time linear in their number, whatever the pattern. */
export interface Automaton {
  /**
   * Runs from `from` towards `to` (backwards when the automaton is reversed) and returns where a match ends: the
   * first such position, or the last one that can be reached. Returns -1 when no match ends.
   */
  run(bytes: Uint8Array, from: number, to: number, mode: "first" | "longest"): number
}

/** The most nodes. More would take too much memory for a pattern; counted repetitions are what reaches the limit. */
const nodesMax = 4000
const statesMax = 512

interface Node {
  readonly members: Uint8Array | null
  readonly assertion: Extract<Pattern, { kind: "assertion" }>["at"] | null
  next: readonly number[]
}

interface AutomatonOptions {
  /** Set to match backwards from a position, which finds where a match begins. */
  readonly isReversed: boolean
  /** Set when a match may begin anywhere, not only where the run begins. */
  readonly isUnanchored: boolean
}

const accepting = 0
/** The symbol before the first and behind the last byte. */
const edge = 256
const symbolCount = 257
const dead = -1

/**
 * Creates an automaton whose states are sets of positions in the pattern. States are created when they occur, and
 * discarded when there are too many. Line ends and word boundaries depend on the bytes around a position, so whether
 * a position accepts is known with the next byte.
 */
export function createAutomaton(pattern: Pattern, options: AutomatonOptions): Automaton {
  const nodes: Node[] = [{ members: null, assertion: null, next: [] }]
  const first = build(nodes, pattern, [accepting], options.isReversed)
  const machine = createMachine(nodes, first, options)
  const { arrows } = machine
  const step = options.isReversed ? -1 : 1
  const offset = options.isReversed ? -1 : 0

  return {
    run: (bytes, from, to, mode) => {
      let state = machine.start(symbolKind(bytes[from - 1 - offset] ?? edge))
      let accepted = -1
      for (let at = from; ; at += step) {
        const symbol = bytes[at + offset] ?? edge
        const known = arrows[state * symbolCount + symbol] ?? 0
        const arrow = known === 0 ? machine.follow(state, symbol) : known
        if ((arrow & 1) === 1) {
          accepted = at
          if (mode === "first") return at
        }
        state = (arrow >> 1) - 2
        if (at === to || state === dead) return accepted
      }
    },
  }
}

/** Adds the nodes of a pattern that continues at `next`, and returns its first node. */
function build(
  nodes: Node[],
  pattern: Pattern,
  next: readonly number[],
  isReversed: boolean,
): readonly number[] {
  if (nodes.length > nodesMax) throw new RangeError("the pattern is too large")
  if (pattern.kind === "bytes") {
    nodes.push({ members: pattern.members, assertion: null, next })
    return [nodes.length - 1]
  }
  if (pattern.kind === "assertion") {
    nodes.push({ members: null, assertion: pattern.at, next })
    return [nodes.length - 1]
  }
  if (pattern.kind === "choice") return pattern.items.flatMap(item => build(nodes, item, next, isReversed))
  if (pattern.kind === "sequence") {
    const items = isReversed ? pattern.items : pattern.items.toReversed()
    return items.reduce((after, item) => build(nodes, item, after, isReversed), next)
  }
  return buildRepeat(nodes, pattern, next, isReversed)
}

function buildRepeat(
  nodes: Node[],
  pattern: Extract<Pattern, { kind: "repeat" }>,
  next: readonly number[],
  isReversed: boolean,
): readonly number[] {
  let after = next
  if (pattern.max === null) {
    const loop: Node = { members: null, assertion: null, next: [] }
    nodes.push(loop)
    const loopAt = nodes.length - 1
    loop.next = [...build(nodes, pattern.item, [loopAt], isReversed), ...next]
    after = [loopAt]
  }
  for (let count = pattern.max ?? pattern.min; count > pattern.min; count--)
    after = [...new Set([...build(nodes, pattern.item, after, isReversed), ...next])]
  for (let count = 0; count < pattern.min; count++) after = build(nodes, pattern.item, after, isReversed)
  return after
}

interface Machine {
  /**
   * The transitions by state and symbol: the next state plus two, doubled, plus one when the position before the
   * symbol ends a match.
   */
  readonly arrows: Int32Array
  start(before: Kind): number
  follow(state: number, symbol: number): number
}

type Kind = "edge" | "line" | "word" | "other"

function symbolKind(symbol: number): Kind {
  if (symbol === edge) return "edge"
  if (symbol === 10) return "line"
  return wordBytes[symbol] === 1 ? "word" : "other"
}

interface State {
  readonly places: readonly number[]
  readonly before: Kind
}

function createMachine(nodes: readonly Node[], first: readonly number[], options: AutomatonOptions): Machine {
  const ids = new Map<string, number>()
  const states: State[] = []
  const arrows = new Int32Array(statesMax * symbolCount)

  function stateOf(places: readonly number[], before: Kind): number {
    const name = `${before} ${places.join(" ")}`
    const known = ids.get(name)
    if (known !== undefined) return known
    if (states.length >= statesMax) {
      ids.clear()
      states.length = 0
      arrows.fill(0)
    }
    ids.set(name, states.length)
    return states.push({ places, before }) - 1
  }

  return {
    arrows,
    start: before => stateOf(first, before),
    follow: (index, symbol) => {
      const state = states[index] ?? { places: [], before: "edge" }
      const after = symbolKind(symbol)
      const places = closureOf(nodes, state, after, options.isReversed)
      const next = new Set(options.isUnanchored ? first : [])
      for (const place of places)
        if (nodes[place]?.members?.[symbol] === 1)
          for (const follower of nodes[place]?.next ?? []) next.add(follower)
      const isDead = next.size === 0 || symbol === edge
      const generation = states.length
      const target = isDead
        ? dead
        : stateOf(
            [...next].sort((a, b) => a - b),
            after,
          )
      const arrow = ((target + 2) << 1) | (places.has(accepting) ? 1 : 0)
      // After the states were discarded, `index` names another one.
      if (states.length >= generation) arrows[index * symbolCount + symbol] = arrow
      return arrow
    },
  }
}

/** Returns all positions that can be reached without a byte, given the symbols before and after. */
function closureOf(
  nodes: readonly Node[],
  state: State,
  after: Kind,
  isReversed: boolean,
): ReadonlySet<number> {
  const [left, right] = isReversed ? [after, state.before] : [state.before, after]
  const reached = new Set<number>()
  const open = [...state.places]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const node = nodes[place]
    if (node === undefined || reached.has(place)) continue
    reached.add(place)
    if (node.members !== null) continue
    if (node.assertion === null || holds(node.assertion, left, right)) open.push(...node.next)
  }
  return reached
}

function holds(assertion: NonNullable<Node["assertion"]>, left: Kind, right: Kind): boolean {
  const isEdge = (left === "word") !== (right === "word")
  if (assertion === "wordEdge") return isEdge
  if (assertion === "noWordEdge") return !isEdge
  const side = assertion === "lineStart" ? left : right
  return side === "edge" || side === "line"
}
