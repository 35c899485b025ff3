/** One step from the old lines to the new ones; the indexes are those of the lines, counted from 0. */
export type DiffStep =
  | { readonly kind: "keep"; readonly oldIndex: number; readonly newIndex: number }
  | { readonly kind: "remove"; readonly oldIndex: number }
  | { readonly kind: "add"; readonly newIndex: number }

/**
 * Returns a shortest edit script from one list of lines to another. Where it has more changes than a bound, the lists
 * are split at lines that both have once; stretches that still differ too much are replaced as a whole: correct, only
 * less pleasant to read, and computed in bounded time and memory.
 */
export function diffLines(before: readonly string[], after: readonly string[]): DiffStep[] {
  const numbers = new Map<string, number>()
  const numbered = (lines: readonly string[]) =>
    Int32Array.from(lines, line => {
      const known = numbers.get(line)
      if (known !== undefined) return known
      numbers.set(line, numbers.size)
      return numbers.size - 1
    })
  const diff = new LineDiff(numbered(before), numbered(after), numbers.size)
  diff.add({ oldStart: 0, oldEnd: before.length, newStart: 0, newEnd: after.length }, 0)
  return diff.steps
}

/** A stretch of the old lines that becomes a stretch of the new ones. */
interface Stretch {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** The most changes to search for in a stretch, first in all of it and then between two anchors. */
const changesMax = 1500
const innerChangesMax = 300
const depthMax = 4

/** Collects the steps of one stretch after the other. Lines are numbers here: equal lines have the same. */
class LineDiff {
  readonly steps: DiffStep[] = []

  constructor(
    private readonly before: Int32Array,
    private readonly after: Int32Array,
    private readonly numbers: number,
  ) {}

  add(whole: Stretch, depth: number): void {
    const { before, after } = this
    let { oldStart, oldEnd, newStart, newEnd } = whole
    while (oldStart < oldEnd && newStart < newEnd && before[oldStart] === after[newStart])
      this.keep(oldStart++, newStart++)
    while (oldStart < oldEnd && newStart < newEnd && before[oldEnd - 1] === after[newEnd - 1]) {
      oldEnd -= 1
      newEnd -= 1
    }
    this.addMiddle({ oldStart, oldEnd, newStart, newEnd }, depth)
    while (oldEnd < whole.oldEnd) this.keep(oldEnd++, newEnd++)
  }

  private addMiddle(middle: Stretch, depth: number): void {
    const { oldStart, oldEnd, newStart, newEnd } = middle
    const old = this.before.subarray(oldStart, oldEnd)
    const present = this.after.subarray(newStart, newEnd)
    const found = shortest(old, present, depth === 0 ? changesMax : innerChangesMax)
    if (found !== null) {
      for (const step of found) this.steps.push(moved(step, oldStart, newStart))
      return
    }
    const anchors = depth < depthMax ? anchorsOf(old, present, this.numbers) : []
    if (anchors.length > 0) this.addBetween(middle, anchors, depth + 1)
    else this.replace(middle)
  }

  private addBetween(
    { oldStart, oldEnd, newStart, newEnd }: Stretch,
    anchors: Anchor[],
    depth: number,
  ): void {
    let [oldAt, newAt] = [oldStart, newStart]
    for (const { oldIndex, newIndex } of anchors) {
      const [old, present] = [oldStart + oldIndex, newStart + newIndex]
      this.add({ oldStart: oldAt, oldEnd: old, newStart: newAt, newEnd: present }, depth)
      this.keep(old, present)
      oldAt = old + 1
      newAt = present + 1
    }
    this.add({ oldStart: oldAt, oldEnd, newStart: newAt, newEnd }, depth)
  }

  private replace({ oldStart, oldEnd, newStart, newEnd }: Stretch): void {
    for (let oldIndex = oldStart; oldIndex < oldEnd; oldIndex++) this.steps.push({ kind: "remove", oldIndex })
    for (let newIndex = newStart; newIndex < newEnd; newIndex++) this.steps.push({ kind: "add", newIndex })
  }

  private keep(oldIndex: number, newIndex: number): void {
    this.steps.push({ kind: "keep", oldIndex, newIndex })
  }
}

/** Walks the edit graph by the number of changes, keeping for each number how far every diagonal got. */
function shortest(before: Int32Array, after: Int32Array, changesMost: number): DiffStep[] | null {
  const reached: Int32Array[] = []
  const most = Math.min(before.length + after.length, changesMost)
  if (Math.abs(before.length - after.length) > most) return null
  for (let changes = 0; changes <= most; changes++) {
    const previous = reached[changes - 1] ?? new Int32Array(1)
    const current = new Int32Array(2 * changes + 1)
    reached.push(current)
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = startOf(previous, changes, diagonal)
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1
      current[diagonal + changes] = x
      if (x >= before.length && x - diagonal >= after.length)
        return wayBack(reached, before.length, after.length)
    }
  }
  return null
}

/** Returns how far along the old lines a diagonal starts, from the better of its two neighbours. */
function startOf(previous: Int32Array, changes: number, diagonal: number): number {
  if (changes === 0) return 0
  const below = previous[diagonal - 1 + changes - 1] ?? -1
  const above = previous[diagonal + 1 + changes - 1] ?? -1
  return isDown(below, above, changes, diagonal) ? above : below + 1
}

/** Reports whether the step is down, which adds a line; right removes one. */
function isDown(below: number, above: number, changes: number, diagonal: number): boolean {
  return diagonal === -changes || (diagonal !== changes && below < above)
}

function wayBack(reached: readonly Int32Array[], oldLength: number, newLength: number): DiffStep[] {
  const steps: DiffStep[] = []
  let x = oldLength
  let y = newLength
  for (let changes = reached.length - 1; changes >= 0; changes--) {
    const previous = reached[changes - 1] ?? new Int32Array(1)
    const diagonal = x - y
    const start = startOf(previous, changes, diagonal)
    while (x > start && y > 0 && x > 0) {
      x -= 1
      y -= 1
      steps.push({ kind: "keep", oldIndex: x, newIndex: y })
    }
    if (changes === 0) break
    const below = previous[diagonal - 1 + changes - 1] ?? -1
    const above = previous[diagonal + 1 + changes - 1] ?? -1
    if (isDown(below, above, changes, diagonal)) steps.push({ kind: "add", newIndex: --y })
    else steps.push({ kind: "remove", oldIndex: --x })
  }
  return steps.reverse()
}

interface Anchor {
  readonly oldIndex: number
  readonly newIndex: number
}

/** Returns lines that both lists have exactly once, as many as can be kept in order. */
function anchorsOf(before: Int32Array, after: Int32Array, numbers: number): Anchor[] {
  const [oldPlaces, newPlaces] = [before, after].map(lines => placesOf(lines, numbers))
  const common: Anchor[] = []
  for (const [oldIndex, number] of before.entries()) {
    const newIndex = newPlaces?.[number] ?? -1
    if (oldPlaces?.[number] === oldIndex && newIndex >= 0) common.push({ oldIndex, newIndex })
  }
  return longestRise(common)
}

const absent = -1
const often = -2

/** Returns the index of each number that occurs once. */
function placesOf(lines: Int32Array, numbers: number): Int32Array {
  const places = new Int32Array(numbers).fill(absent)
  for (const [index, number] of lines.entries()) places[number] = places[number] === absent ? index : often
  return places
}

/** Returns the longest subsequence in which the new indexes rise as the old ones do. */
function longestRise(anchors: readonly Anchor[]): Anchor[] {
  const previous = new Int32Array(anchors.length)
  // For each length, the anchor that ends a rise of that length the lowest.
  const ends: number[] = []
  const newIndexAt = (index: number | undefined) => anchors[index ?? -1]?.newIndex ?? -1
  for (const [index, { newIndex }] of anchors.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (newIndexAt(ends[middle]) < newIndex) low = middle + 1
      else high = middle
    }
    previous[index] = ends[low - 1] ?? absent
    ends[low] = index
  }
  const rise: Anchor[] = []
  for (let at = ends.at(-1) ?? absent; at !== absent; at = previous[at] ?? absent) {
    const anchor = anchors[at]
    if (anchor !== undefined) rise.push(anchor)
  }
  return rise.reverse()
}

function moved(step: DiffStep, oldBy: number, newBy: number): DiffStep {
  switch (step.kind) {
    case "keep":
      return { kind: "keep", oldIndex: step.oldIndex + oldBy, newIndex: step.newIndex + newBy }
    case "remove":
      return { kind: "remove", oldIndex: step.oldIndex + oldBy }
    case "add":
      return { kind: "add", newIndex: step.newIndex + newBy }
  }
}
