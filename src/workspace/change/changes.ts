import type { Failure } from "../../domain/failure.ts"
import type { Edit, EditedText, ReplacedRange, TextChanges } from "./contract.ts"
import { countChanges, diffTexts, unifiedDiff } from "./diff.ts"
import { describeDifference, nearestLines } from "./nearest-lines.ts"
import { applyPatch } from "./patch-apply.ts"
import { patchFailure } from "./patch-failures.ts"
import { parsePatch } from "./patch-parse.ts"
import { countNewlines, TextLines, usualEnd } from "./text-lines.ts"

export const textChanges: TextChanges = {
  applyEdits,
  applyPatch: (patch, onlyPath, read) => applyPatch(parsePatch(patch, onlyPath), read),
  patchedFiles: (patch, onlyPath) =>
    parsePatch(patch, onlyPath).map(({ path, action }) => ({ path, action })),
  countChanges,
  diffTexts,
  unifiedDiff,
}

/**
 * Replaces texts, one after the other. Each `search` must occur exactly once; the failure for none or several shows the
 * nearest lines or all occurrences. Carriage returns of the file stay, whether or not the edit has them.
 */
export function applyEdits(path: string, text: string, edits: readonly Edit[]): EditedText {
  if (edits.length === 0) throw patchFailure("malformed", path, `"${path}": there are no edits`)
  const lines: number[] = []
  const ranges: ReplacedRange[] = []
  let current = text
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? "the text" : `the text of edit ${index + 1} of ${edits.length}`
    if (edit.search === "")
      throw patchFailure("malformed", path, `"${path}": ${which} to search for is empty`)
    const match = matchOnce(path, which, current, edit)
    lines.push(lineAt(current, match.start))
    ranges.push(match)
    current = current.slice(0, match.start) + match.replacement + current.slice(match.end)
  }
  return { text: current, lines, ranges }
}

function matchOnce(path: string, which: string, text: string, { search, replace }: Edit): ReplacedRange {
  const exact = startsOf(text, search)
  const [only] = exact
  if (exact.length > 1) throw ambiguous(path, which, text, exact)
  const { start, end } =
    only === undefined ? looseMatch(path, which, text, search) : { start: only, end: only + search.length }
  return { start, end, replacement: fittingEnds(replace, text, start, end) }
}

const startsMax = 20

function startsOf(text: string, search: string): number[] {
  const starts: number[] = []
  for (let at = text.indexOf(search); at >= 0 && starts.length < startsMax; at = text.indexOf(search, at + 1))
    starts.push(at)
  return starts
}

/** Matches without the carriage returns before newlines, on both sides. Lines have the same numbers without them. */
function looseMatch(
  path: string,
  which: string,
  text: string,
  search: string,
): Omit<ReplacedRange, "replacement"> {
  if (!text.includes("\r\n") && !search.includes("\r\n")) throw missing(path, which, text, search)
  const bare = text.replaceAll("\r\n", "\n")
  const wanted = search.replaceAll("\r\n", "\n")
  const starts = startsOf(bare, wanted)
  const [only] = starts
  if (starts.length > 1) throw ambiguous(path, which, bare, starts)
  if (only === undefined) throw missing(path, which, text, search)
  return { start: originalIndex(text, only), end: originalIndex(text, only + wanted.length) }
}

/** Returns the index in the text of the character at `index` of the text without carriage returns. */
function originalIndex(text: string, index: number): number {
  let at = 0
  for (let bare = 0; bare < index; bare++) at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1
  return at
}

/** Gives new lines the ends of the replaced ones; where none was replaced, the most common end of the file. */
function fittingEnds(replace: string, text: string, start: number, end: number): string {
  const replaced = text.slice(start, end)
  const usual = usualEnd(replaced.includes("\n") ? replaced : text)
  const bare = replace.replaceAll("\r\n", "\n")
  if (usual === "\r\n") return bare.replaceAll("\n", "\r\n")
  return text.includes("\r\n") ? replace : bare
}

function lineAt(text: string, index: number): number {
  return countNewlines(text, index) + 1
}

function ambiguous(path: string, which: string, text: string, starts: readonly number[]): Failure {
  const lines = starts.map(start => lineAt(text, start)).join(", ")
  return patchFailure(
    "ambiguous",
    path,
    `"${path}": ${which} is there ${starts.length} times, at lines ${lines}`,
  )
}

function missing(path: string, which: string, text: string, search: string): Failure {
  const lines = new TextLines(text)
  const wanted = search.split(/\r?\n/)
  if (wanted.at(-1) === "") wanted.pop()
  const near = nearestLines(lines, wanted)
  if (near === null)
    return patchFailure("differs", path, `"${path}": ${which} is not there, and nothing like it is`)
  const difference = describeDifference(lines, near.start, wanted)
  return patchFailure(
    "differs",
    `${path}:${near.start + 1}`,
    `"${path}": ${which} is not there; the closest place is line ${near.start + 1} ` +
      `(- is in the file, + was searched for):\n${difference}`,
  )
}
