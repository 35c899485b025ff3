import { byteOrderMark } from "../../base/text.ts"
import type { Failure } from "../../domain/failure.ts"
import type { PatchedFile, PlacedHunk } from "./contract.ts"
import { describeDifference, nearestLines } from "./nearest-lines.ts"
import { patchFailure } from "./patch-failures.ts"
import type { FilePatch, PatchHunk, PatchLine } from "./patch-parse.ts"
import { JoinedLines, type TextLine, TextLines, usualEnd, withoutReturn } from "./text-lines.ts"

/**
 * Applies a patch of one or many files to texts; nothing is written. Either all of it matches or the failure reports
 * every file that does not. `read` returns null for a missing file, else its text with its byte order mark.
 */
export function applyPatch(
  patches: readonly FilePatch[],
  read: (path: string) => string | null,
): PatchedFile[] {
  const results = new Map<string, PatchedFile>()
  const problems: Failure[] = []
  for (const patch of patches) {
    const earlier = results.get(patch.path)
    const before = earlier === undefined ? read(patch.path) : earlier.after
    const result = applyToFile(patch, before)
    if (!("after" in result)) problems.push(result)
    else
      results.set(patch.path, {
        ...result,
        before: earlier === undefined ? before : earlier.before,
        hunks: [...(earlier?.hunks ?? []), ...result.hunks],
      })
  }
  const [first] = problems
  if (first === undefined) return [...results.values()]
  if (problems.length === 1) throw first
  const all = problems.map(problem => problem.message).join("\n")
  throw patchFailure(
    "differs",
    first.report.where ?? "patch",
    `${problems.length} files of the patch do not fit:\n${all}`,
  )
}

const fuzzMax = 3

/**
 * Applies the patch of one file. To git a byte order mark is part of the first line, so a patch that contains it is
 * matched with it. A patch made from text without the mark is matched without, and the mark stays. Where both match,
 * the result nearer to the stated lines counts.
 */
function applyToFile(patch: FilePatch, before: string | null): PatchedFile | Failure {
  if (before === null || !before.startsWith(byteOrderMark)) return applyToText(patch, before)
  const bare = applyBelowMark(patch, before)
  if (!namesMark(patch)) return bare
  const exact = applyToText(patch, before)
  if (!("after" in bare)) return exact
  return "after" in exact && strayed(exact) <= strayed(bare) ? exact : bare
}

function applyBelowMark(patch: FilePatch, before: string): PatchedFile | Failure {
  const text = before.slice(byteOrderMark.length)
  const result = applyToText(patch, text)
  if (!("after" in result)) return result
  const { after } = result
  const isMarked = after === null || (after.startsWith(byteOrderMark) && !text.startsWith(byteOrderMark))
  return { ...result, before, after: isMarked ? after : byteOrderMark + after }
}

function namesMark({ hunks }: FilePatch): boolean {
  return hunks.some(({ lines }) => lines.some(({ text }) => text.startsWith(byteOrderMark)))
}

function strayed({ hunks }: PatchedFile): number {
  return hunks.reduce((sum, { offset, fuzz }) => sum + Math.abs(offset) + fuzz, 0)
}

function applyToText(patch: FilePatch, before: string | null): PatchedFile | Failure {
  const { path, action } = patch
  if (action === "create" && before !== null)
    return patchFailure("wrongTarget", path, `the patch makes "${path}", which exists already`)
  if (action !== "create" && before === null)
    return patchFailure("wrongTarget", path, `the patch is about "${path}", which does not exist`)
  const lines = new TextLines(before ?? "")
  const output = new JoinedLines()
  const placed: PlacedHunk[] = []
  let done = 0
  let offset = 0
  for (const [index, hunk] of patch.hunks.entries()) {
    const found = placeHunk(lines, hunk, done, offset)
    if (found.kind !== "found") return conflict(path, index, patch.hunks.length, hunk, lines, found)
    output.add(lines.between(done, found.start))
    for (const { content, end } of rewritten(lines, found)) output.add(content + end, end === "")
    done = found.start + found.old.length
    const stated = statedStart(hunk, found.fuzzBefore)
    if (stated !== null) offset = found.start - stated
    placed.push({ line: found.start + 1, offset: stated === null ? 0 : offset, fuzz: found.fuzz })
  }
  output.add(lines.between(done, lines.count))
  const after = output.join()
  if (action === "delete" && after !== "")
    return patchFailure(
      "differs",
      path,
      `the patch deletes "${path}", but the file holds more than the patch removes`,
    )
  return { path, before, after: action === "delete" ? null : after, hunks: placed }
}

type Placement =
  | {
      readonly kind: "found"
      readonly start: number
      /** The lines of the hunk that were matched, without the ignored context. */
      readonly body: readonly PatchLine[]
      readonly old: readonly string[]
      readonly fuzz: number
      readonly fuzzBefore: number
    }
  | { readonly kind: "missing" }
  /** Empty where the hunk only adds lines and states no line. */
  | { readonly kind: "ambiguous"; readonly starts: readonly number[] }

/**
 * Finds the lines that a hunk matches: at its stated line, moved as the hunks before it were; else at the only other
 * position that matches.
 */
function placeHunk(lines: TextLines, hunk: PatchHunk, from: number, offset: number): Placement {
  // Only its lines determine the position of a hunk without a number, so none of them is ignored.
  const fuzzAllowed = hunk.oldStart === null ? 0 : fuzzMax
  for (let fuzz = 0; fuzz <= fuzzAllowed; fuzz++) {
    const fuzzBefore = Math.min(fuzz, contextAt(hunk.lines))
    const fuzzAfter = Math.min(fuzz, contextAt(hunk.lines.toReversed()))
    if (fuzz > 0 && Math.max(fuzzBefore, fuzzAfter) < fuzz) break
    const body = hunk.lines.slice(fuzzBefore, hunk.lines.length - fuzzAfter)
    const old = body.filter(line => line.sign !== "+").map(line => withoutReturn(line.text))
    const stated = statedStart(hunk, fuzzBefore)
    if (stated === null && old.length === 0 && lines.count > 0) return { kind: "ambiguous", starts: [] }
    const wanted = stated === null ? 0 : stated + offset
    const found = { kind: "found" as const, body, old, fuzz, fuzzBefore }
    if (old.length === 0)
      return fuzz === 0 && wanted >= from && wanted <= lines.count
        ? { ...found, start: wanted }
        : { kind: "missing" }
    if (stated !== null && wanted >= from && matchesAt(lines, old, wanted)) return { ...found, start: wanted }
    const starts = startsOf(lines, old, from)
    if (starts.length > 1) return { kind: "ambiguous", starts }
    if (starts[0] !== undefined) return { ...found, start: starts[0] }
  }
  return { kind: "missing" }
}

/**
 * Returns the stated line, counted from 0; null where the patch states none. A hunk that only adds names the line
 * before it.
 */
function statedStart({ oldStart, lines }: PatchHunk, fuzzBefore: number): number | null {
  if (oldStart === null) return null
  const onlyAdds = lines.every(line => line.sign === "+")
  return onlyAdds ? oldStart : oldStart - 1 + fuzzBefore
}

function contextAt(lines: readonly PatchLine[]): number {
  const first = lines.findIndex(line => line.sign !== " ")
  return first < 0 ? lines.length : first
}

function matchesAt(lines: TextLines, old: readonly string[], start: number): boolean {
  if (start < 0 || start + old.length > lines.count) return false
  return old.every((text, index) => lines.isAt(start + index, text))
}

const startsMax = 10

function startsOf(lines: TextLines, old: readonly string[], from: number): number[] {
  const starts: number[] = []
  for (let start = from; start + old.length <= lines.count && starts.length < startsMax; start++)
    if (matchesAt(lines, old, start)) starts.push(start)
  return starts
}

/**
 * Returns the lines after the hunk. Unchanged lines are those of the file. Added lines take their ends from the patch
 * where the patch has the ends of the file, else from the file: a patch without carriage returns matches a file with
 * them.
 */
function rewritten(lines: TextLines, found: Placement & { kind: "found" }): TextLine[] {
  const region = found.old.flatMap((_, index) => lines.at(found.start + index) ?? [])
  const olds = found.body.filter(line => line.sign !== "+")
  const isExact = olds.every(({ text }, index) => text === asWritten(region[index]))
  const end = endAround(lines, found.start, region.length)
  const output: TextLine[] = []
  let at = 0
  for (const { sign, text, isUnended } of found.body) {
    const line = sign === "+" ? null : region[at++]
    if (sign === "-") continue
    if (line !== null && line !== undefined) output.push(line)
    else if (isUnended) output.push({ content: isExact ? text : withoutReturn(text), end: "" })
    else if (isExact && olds.length > 0)
      output.push({ content: withoutReturn(text), end: text.endsWith("\r") ? "\r\n" : "\n" })
    else
      output.push({
        content: withoutReturn(text),
        end: olds.length === 0 && text.endsWith("\r") ? "\r\n" : end,
      })
  }
  return output
}

/** Returns the most common line end at a position; that of the whole file where no line there has one. */
function endAround(lines: TextLines, start: number, count: number): "\n" | "\r\n" {
  const [from, to] = count > 0 ? [start, start + count] : [Math.max(0, start - 1), start + 1]
  const neighbours = lines.between(from, Math.min(to, lines.count))
  return usualEnd(neighbours.includes("\n") ? neighbours : lines.text)
}

function asWritten(line: TextLine | undefined): string {
  return line === undefined ? "" : line.content + (line.end === "\r\n" ? "\r" : "")
}

function conflict(
  path: string,
  index: number,
  count: number,
  hunk: PatchHunk,
  lines: TextLines,
  placement: Placement,
): Failure {
  const which = count === 1 ? "the change" : `change ${index + 1} of ${count}`
  if (placement.kind === "ambiguous") {
    const places = placement.starts.map(start => start + 1).join(", ")
    const told =
      places === "" ? "adds lines and does not say where" : `fits at several places: lines ${places}`
    return patchFailure("ambiguous", path, `"${path}": ${which} ${told}`)
  }
  const wanted = hunk.lines.filter(line => line.sign !== "+").map(line => withoutReturn(line.text))
  const near = nearestLines(lines, wanted)
  if (near === null)
    return patchFailure(
      "differs",
      path,
      `"${path}": ${which}${hunk.oldStart === null ? "" : ` (line ${hunk.oldStart})`} is like nothing in the file`,
    )
  const difference = describeDifference(lines, near.start, wanted)
  return patchFailure(
    "differs",
    `${path}:${near.start + 1}`,
    `"${path}": ${which} does not fit; the closest place is line ${near.start + 1} ` +
      `(- is in the file, + in the patch):\n${difference}`,
  )
}
