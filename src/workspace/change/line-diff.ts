/** One step from the old lines to the new ones; the indexes are those of the lines, counted from 0. */
export type DiffStep =
  | { readonly kind: "keep"; readonly oldIndex: number; readonly newIndex: number }
  | { readonly kind: "remove"; readonly oldIndex: number }
  | { readonly kind: "add"; readonly newIndex: number }

/**
 * A shortest way from one list of lines to another. Where it is longer than a bound, what differs is replaced as a
 * whole: still right, only less pleasant to read, and found in bounded time and memory.
 */
export function diffLines(before: readonly string[], after: readonly string[]): DiffStep[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let tail = 0
  const tailMax = Math.min(before.length, after.length) - start
  while (tail < tailMax && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1
  const steps: DiffStep[] = keeps(0, 0, start)
  const oldMiddle = before.slice(start, before.length - tail)
  const newMiddle = after.slice(start, after.length - tail)
  for (const step of shortest(oldMiddle, newMiddle) ?? replaced(oldMiddle.length, newMiddle.length))
    steps.push(moved(step, start))
  steps.push(...keeps(before.length - tail, after.length - tail, tail))
  return steps
}

const stepsMax = 1500

/** Walks the edit graph by the number of changes, keeping for each number how far every diagonal got. */
function shortest(before: readonly string[], after: readonly string[]): DiffStep[] | null {
  const reached: Int32Array[] = []
  const most = Math.min(before.length + after.length, stepsMax)
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

/** How far along the old lines a diagonal starts, coming from the better of its two neighbours. */
function startOf(previous: Int32Array, changes: number, diagonal: number): number {
  if (changes === 0) return 0
  const below = previous[diagonal - 1 + changes - 1] ?? -1
  const above = previous[diagonal + 1 + changes - 1] ?? -1
  return goesDown(below, above, changes, diagonal) ? above : below + 1
}

/** Down is a line added, right a line removed. */
function goesDown(below: number, above: number, changes: number, diagonal: number): boolean {
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
    if (goesDown(below, above, changes, diagonal)) steps.push({ kind: "add", newIndex: --y })
    else steps.push({ kind: "remove", oldIndex: --x })
  }
  return steps.reverse()
}

function replaced(oldLength: number, newLength: number): DiffStep[] {
  return [
    ...Array.from({ length: oldLength }, (_, oldIndex): DiffStep => ({ kind: "remove", oldIndex })),
    ...Array.from({ length: newLength }, (_, newIndex): DiffStep => ({ kind: "add", newIndex })),
  ]
}

function keeps(oldStart: number, newStart: number, count: number): DiffStep[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: "keep" as const,
    oldIndex: oldStart + index,
    newIndex: newStart + index,
  }))
}

function moved(step: DiffStep, by: number): DiffStep {
  switch (step.kind) {
    case "keep":
      return { kind: "keep", oldIndex: step.oldIndex + by, newIndex: step.newIndex + by }
    case "remove":
      return { kind: "remove", oldIndex: step.oldIndex + by }
    case "add":
      return { kind: "add", newIndex: step.newIndex + by }
  }
}
