import { badPattern, type CharacterTest, isWordCharacter } from "./pattern-set.ts"
import { type Assertion, type PatternNode, parseSearchPattern } from "./pattern-syntax.ts"

/** Finds lines that match a pattern. */
export interface LineMatcher {
  matches(line: string): boolean
  /** A text that every matching line contains, or null: lets the search skip whole files quickly. */
  readonly required: string | null
}

/**
 * Compiles a pattern to a matcher that takes time proportional to the line, whatever the pattern: it follows all
 * branches of the pattern at once and remembers where they lead. A backtracking engine can be made to run for years by
 * a short pattern.
 */
export function compileLineMatcher(pattern: string): LineMatcher {
  const tree = parseSearchPattern(pattern)
  const program: Instruction[] = []
  emit(program, tree, pattern)
  program.push({ kind: "match" })
  const automaton = new Automaton(program)
  return { matches: line => automaton.matches(line), required: requiredText(tree) }
}

type Instruction =
  | { readonly kind: "character"; readonly test: CharacterTest }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "split"; to: number }
  | { readonly kind: "jump"; to: number }
  | { readonly kind: "match" }

const instructionsMax = 10_000

/** Emits the instructions of a node. `split` continues at the next instruction and at `to`. */
function emit(program: Instruction[], node: PatternNode, pattern: string): void {
  if (program.length > instructionsMax) throw badPattern(pattern, "is too large")
  switch (node.kind) {
    case "character":
      program.push({ kind: "character", test: node.test })
      return
    case "assertion":
      program.push({ kind: "assertion", assertion: node.assertion })
      return
    case "sequence":
      for (const part of node.parts) emit(program, part, pattern)
      return
    case "choice":
      emitChoice(program, node.options, pattern)
      return
    case "repeat":
      emitRepeat(program, node, pattern)
  }
}

function emitChoice(program: Instruction[], options: readonly PatternNode[], pattern: string): void {
  const exits: { to: number }[] = []
  for (const [index, option] of options.entries()) {
    if (index === options.length - 1) {
      emit(program, option, pattern)
      break
    }
    const split = { kind: "split" as const, to: 0 }
    program.push(split)
    emit(program, option, pattern)
    const jump = { kind: "jump" as const, to: 0 }
    program.push(jump)
    exits.push(jump)
    split.to = program.length
  }
  for (const exit of exits) exit.to = program.length
}

function emitRepeat(program: Instruction[], node: PatternNode & { kind: "repeat" }, pattern: string): void {
  for (let count = 0; count < node.min; count++) emit(program, node.body, pattern)
  if (node.max === Number.POSITIVE_INFINITY) {
    const split = { kind: "split" as const, to: 0 }
    const start = program.length
    program.push(split)
    emit(program, node.body, pattern)
    program.push({ kind: "jump", to: start })
    split.to = program.length
    return
  }
  const exits: { to: number }[] = []
  for (let count = node.min; count < node.max; count++) {
    const split = { kind: "split" as const, to: 0 }
    program.push(split)
    exits.push(split)
    emit(program, node.body, pattern)
  }
  for (const exit of exits) exit.to = program.length
}

/** All positions in the program that the text so far can have led to, and the character before. */
interface State {
  readonly places: readonly number[]
  readonly before: "nothing" | "word" | "other"
  readonly next: Map<number, State | "matched">
}

const endOfLine = -1
/** States are a cache: forgetting them costs time and bounds memory. */
const statesMax = 1000
const stepsMax = 50_000

class Automaton {
  private states = new Map<string, State>()
  private steps = 0

  constructor(private readonly program: readonly Instruction[]) {}

  matches(line: string): boolean {
    let state: State | "matched" = this.state([], "nothing")
    for (let index = 0; index < line.length; ) {
      const code = line.codePointAt(index) ?? 0
      state = this.step(state, code)
      if (state === "matched") return true
      index += code > 0xffff ? 2 : 1
    }
    return this.step(state, endOfLine) === "matched"
  }

  private step(state: State, code: number): State | "matched" {
    const known = state.next.get(code)
    if (known !== undefined) return known
    const next = this.advance(state, code)
    this.steps += 1
    if (this.states.size > statesMax || this.steps > stepsMax) {
      this.states = new Map()
      this.steps = 0
    } else state.next.set(code, next)
    return next
  }

  private advance(state: State, code: number): State | "matched" {
    const seen = new Set<number>()
    // A match may start anywhere, so the beginning of the program is always one of the positions.
    const open = [0, ...state.places]
    const next: number[] = []
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (seen.has(place)) continue
      seen.add(place)
      const instruction = this.program[place]
      switch (instruction?.kind) {
        case "match":
          return "matched"
        case "jump":
          open.push(instruction.to)
          break
        case "split":
          open.push(instruction.to, place + 1)
          break
        case "assertion":
          if (holds(instruction.assertion, state.before, code)) open.push(place + 1)
          break
        case "character":
          if (code !== endOfLine && instruction.test(code)) next.push(place + 1)
      }
    }
    return this.state(next, code !== endOfLine && isWordCharacter(code) ? "word" : "other")
  }

  private state(places: number[], before: State["before"]): State {
    const sorted = places.sort((a, b) => a - b)
    const key = `${before} ${sorted.join(" ")}`
    const known = this.states.get(key)
    if (known !== undefined) return known
    const state: State = { places: sorted, before, next: new Map() }
    this.states.set(key, state)
    return state
  }
}

function holds(assertion: Assertion, before: State["before"], code: number): boolean {
  if (assertion === "start") return before === "nothing"
  if (assertion === "end") return code === endOfLine
  const isBoundary = (before === "word") !== (code !== endOfLine && isWordCharacter(code))
  return isBoundary === (assertion === "wordBoundary")
}

/** Returns the longest run of plain characters that every match contains. */
function requiredText(node: PatternNode): string | null {
  let longest = ""
  let run = ""
  const visit = (part: PatternNode): void => {
    if (part.kind === "sequence") {
      for (const inner of part.parts) visit(inner)
      return
    }
    if (part.kind === "assertion") return
    if (part.kind === "character" && part.literal !== null) {
      run += part.literal
      if (run.length > longest.length) longest = run
      return
    }
    run = ""
    if (part.kind === "repeat" && part.min > 0) {
      visit(part.body)
      run = ""
    }
  }
  visit(node)
  return longest === "" ? null : longest
}
