import type { Edit, EditedText, EditPlace } from "../workspace/change/contract.ts"
import type { ToolRoom } from "./contract.ts"
import { type FileText, isFailure } from "./file-state.ts"
import { hasMarker, reinserted } from "./reinsertion.ts"
import { originalLine, type ShownLine, type ShownText, shownText } from "./shown-text.ts"

/**
 * Applies edits that were written against a text as it was shown. Each one touches the lines it is about and no others,
 * so that lines which look alike elsewhere leave no doubt about which secret is whose.
 */
export function editShown(
  room: ToolRoom,
  path: string,
  { raw, shown }: Pick<FileText, "raw" | "shown">,
  edits: readonly Edit[],
): Pick<EditedText, "text" | "lines"> {
  const { text, lines, places } = room.changes.applyEdits(path, shown.text, edits)
  if (!shown.isRedacted) return { text: reinserted(path, shown, text), lines }
  return {
    text:
      editBeside(shown, places) ?? edits.reduce((current, edit) => editOnce(room, path, current, edit), raw),
    lines: lines.map(line => originalLine(shown, line)),
  }
}

/**
 * Returns the original with edits that touch no line of a secret, or null where one does: most edits of a large file,
 * without a look at all of the file for each of them.
 */
function editBeside(shown: ShownText, places: readonly EditPlace[]): string | null {
  let { text, replaced } = shown
  for (const { start, end, replacement } of places) {
    const from = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1
    const newline = text.indexOf("\n", end)
    const to = newline < 0 ? text.length : newline
    const isTouched = replaced.some(part => part.at <= to && part.at + part.shown.length >= from)
    if (isTouched || hasMarker(replacement)) return null
    const moved = replacement.length - (end - start)
    text = text.slice(0, start) + replacement + text.slice(end)
    replaced = replaced.map(part => (part.at < start ? part : { ...part, at: part.at + moved }))
  }
  const pieces: string[] = []
  let at = 0
  for (const part of replaced) {
    pieces.push(text.slice(at, part.at), part.original)
    at = part.at + part.shown.length
  }
  return [...pieces, text.slice(at)].join("")
}

function editOnce(room: ToolRoom, path: string, raw: string, edit: Edit): string {
  const shown = shownText(raw, room.redactor)
  const edited = room.changes.applyEdits(path, shown.text, [edit]).text
  const region = regionOf(room, path, shown, edit)
  const [first, next] = [shown.lines[region.firstLine], shown.lines[region.nextLine]]
  const tail = shown.text.length - region.to
  const proposed = edited.slice(region.from, edited.length - tail)
  try {
    const lines = shown.lines.slice(region.firstLine, region.nextLine)
    const changed = reinserted(path, { lines }, proposed)
    const start = startOf(first, raw)
    const end = startOf(next, raw) - (region.leavesNewline ? 1 : 0)
    return raw.slice(0, start) + changed + raw.slice(end)
  } catch (error) {
    if (!isFailure(error, "ACODE-SEC-007")) throw error
    // A line may come from elsewhere in the file; then all of the file has to tell which it is.
    return reinserted(path, shown, edited)
  }
}

function startOf(line: ShownLine | undefined, raw: string): number {
  return line?.start ?? raw.length
}

interface Region {
  readonly from: number
  readonly to: number
  readonly firstLine: number
  readonly nextLine: number
  /** A newline follows that does not belong to it. */
  readonly leavesNewline: boolean
}

/** The whole lines an edit is about. Where it fits is asked with a character that is nowhere in the text. */
function regionOf(room: ToolRoom, path: string, { text }: ShownText, { search }: Edit): Region {
  const sign = absentFrom(text)
  const signed = room.changes.applyEdits(path, text, [{ search, replace: sign }]).text
  const start = signed.indexOf(sign)
  const end = text.length - (signed.length - start - sign.length)
  // Before the first character there is no newline to look for, and lastIndexOf would take -1 for 0.
  const from = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1
  const endsLine = end > from && text[end - 1] === "\n"
  const lineEnd = text.indexOf("\n", end)
  const to = endsLine ? end : lineEnd < 0 ? text.length : lineEnd
  const firstLine = newlinesIn(text.slice(0, from))
  return {
    from,
    to,
    firstLine,
    nextLine: firstLine + linesIn(text.slice(from, to)),
    leavesNewline: !endsLine && lineEnd >= 0,
  }
}

function linesIn(region: string): number {
  return newlinesIn(region) + (region.endsWith("\n") ? 0 : 1)
}

function newlinesIn(text: string): number {
  return text.split("\n").length - 1
}

function absentFrom(text: string): string {
  for (let code = 0xe000; code < 0xf8ff; code++) {
    const sign = String.fromCharCode(code)
    if (!text.includes(sign)) return sign
  }
  return "\uf8ff".repeat(text.length + 1)
}
