import { byteOrderMark } from "../base/text.ts"
import type { Failure } from "../domain/failure.ts"
import type { Edit, EditedText, PlacedHunk, ReplacedRange } from "../workspace/change/contract.ts"
import type { TextFormat } from "../workspace/contract.ts"
import type { ToolRoom } from "./contract.ts"
import { changedMeanwhile, type FileText, isFailure, textState } from "./file-state.ts"
import type { CallPath } from "./path-effects.ts"
import { hasMarker, reinserted } from "./reinsertion.ts"
import { originalLine, type ShownLine, type ShownText, shownText } from "./shown-text.ts"

/** One file with the change computed and not made. */
export interface ModifiedFile {
  readonly path: string
  /** Null for a file that is made. */
  readonly before: FileBefore | null
  /** Without a byte order mark; null for a file that is deleted. */
  readonly after: string | null
  readonly hasMark: boolean
  readonly hunks: readonly PlacedHunk[]
}

interface FileBefore {
  readonly text: string
  readonly format: TextFormat
  readonly sha256: string
  readonly bytes: Uint8Array
}

/** Exact replacements in one file. */
export function editedFile(
  room: ToolRoom,
  { typed, relative }: CallPath,
  edits: readonly Edit[],
): ModifiedFile {
  const { before, text } = readOpen(room, typed)
  const { text: after, lines } = onShownOrRaw([text], view => {
    if (view === asShown) return editShown(room, relative, text, edits)
    const edited = room.changes.applyEdits(relative, text.raw, edits)
    return { ...edited, text: reinserted(relative, text.shown, edited.text) }
  })
  const hunks = lines.map(line => ({ line, offset: 0, fuzz: 0 }))
  return { path: relative, before, after, hasMark: before.format.bom, hunks }
}

/** A unified diff of one file, or of as many as it names. */
export function patchedFiles(
  room: ToolRoom,
  patch: string,
  onlyPath: string | null,
  targets: readonly { readonly path: CallPath; readonly named: string }[],
): ModifiedFile[] {
  const files = new Map(targets.map(({ path, named }) => [named, { path, open: readIfThere(room, path) }]))
  const texts = [...files.values()].flatMap(({ open }) => open?.text ?? [])
  return onShownOrRaw(texts, view => {
    const patched = room.changes.applyPatch(patch, onlyPath, name => {
      const text = files.get(name)?.open?.text
      return text === undefined ? null : (text.format.bom ? byteOrderMark : "") + view.textOf(text)
    })
    return patched.map(({ path: name, after: marked, hunks }) => {
      const { path, open = null } = files.get(name) ?? {}
      const relative = path?.relative ?? name
      const hasMark = marked?.startsWith(byteOrderMark) ?? false
      const after = hasMark ? (marked?.slice(byteOrderMark.length) ?? null) : marked
      return {
        path: relative,
        before: open?.before ?? null,
        after: after === null ? null : reinserted(relative, open?.text.shown ?? null, after),
        hasMark,
        hunks: hunks.map(hunk =>
          open === null ? hunk : { ...hunk, line: view.lineOf(open.text, hunk.line) },
        ),
      }
    })
  })
}

interface OpenFile {
  readonly before: FileBefore
  readonly text: FileText
}

function readIfThere(room: ToolRoom, { typed }: CallPath): OpenFile | null {
  return room.workspace.locate(typed).kind === "missing" ? null : readOpen(room, typed)
}

function readOpen(room: ToolRoom, typed: string): OpenFile {
  const { sha256, text } = textState(room, typed)
  const { bytes, sha256: bytesSha256 } = room.workspace.readBytes(typed, room.limits.editBytesMax)
  if (bytesSha256 !== sha256) throw changedMeanwhile(typed)
  return { before: { text: text.raw, format: text.format, sha256, bytes }, text }
}

/** How the author of a change saw the files. */
interface View {
  textOf(text: FileText): string
  /** The line of the file that is this line of the view. */
  lineOf(text: FileText, line: number): number
}

const asShown: View = {
  textOf: ({ shown }) => shown.text,
  lineOf: ({ shown }, line) => originalLine(shown, line),
}
const asItIs: View = { textOf: ({ raw }) => raw, lineOf: (_, line) => line }

/**
 * A change is written by somebody who was shown the file redacted, or by somebody who has it. The first is tried first;
 * what went wrong there is told, because it holds no secret.
 */
function onShownOrRaw<Result>(texts: readonly FileText[], change: (view: View) => Result): Result {
  try {
    return change(asShown)
  } catch (error) {
    if (!isMisfit(error) || !texts.some(({ shown }) => shown.isRedacted)) throw error
    return changeRaw(change, error)
  }
}

function changeRaw<Result>(change: (view: View) => Result, first: Failure): Result {
  try {
    return change(asItIs)
  } catch (error) {
    throw isMisfit(error) ? first : error
  }
}

function isMisfit(error: unknown): error is Failure {
  return isFailure(error, "ACODE-PAT-002", "ACODE-PAT-004")
}

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
  const { text, lines, ranges } = room.changes.applyEdits(path, shown.text, edits)
  if (!shown.isRedacted) return { text: reinserted(path, shown, text), lines }
  return {
    text:
      editBeside(shown, ranges) ?? edits.reduce((current, edit) => editOnce(room, path, current, edit), raw),
    lines: lines.map(line => originalLine(shown, line)),
  }
}

/**
 * Returns the original with edits that touch no line of a secret, or null where one does: most edits of a large file,
 * without a look at all of the file for each of them.
 */
function editBeside(shown: ShownText, ranges: readonly ReplacedRange[]): string | null {
  let { text, replaced } = shown
  for (const { start, end, replacement } of ranges) {
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
