import { byteOrderMark } from "../base/text.ts"
import type { Failure } from "../domain/failure.ts"
import type { Edit, EditedText, PlacedHunk, ReplacedRange } from "../workspace/change/contract.ts"
import type { TextFormat } from "../workspace/contract.ts"
import type { ToolDeps } from "./contract.ts"
import { changedMeanwhile, type FileText, isFailure, textState } from "./file-state.ts"
import type { CallPath } from "./path-effects.ts"
import { hasMarker, reinserted } from "./reinsertion.ts"
import { originalLine, type ShownLine, type ShownText, shownText } from "./shown-text.ts"

/** One file with its computed change, which is not made yet. */
export interface ModifiedFile {
  readonly path: string
  /** Null for a file that is created. */
  readonly before: FileBefore | null
  /** The new text without a byte order mark; null for a file that is deleted. */
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

/** Computes exact replacements in one file. */
export function editedFile(
  deps: ToolDeps,
  { typed, relative }: CallPath,
  edits: readonly Edit[],
): ModifiedFile {
  const { before, text } = readOpen(deps, typed)
  const { text: after, lines } = onShownOrRaw([text], view => {
    if (view === asShown) return editShown(deps, relative, text, edits)
    const edited = deps.changes.applyEdits(relative, text.raw, edits)
    return { ...edited, text: reinserted(relative, text.shown, edited.text) }
  })
  const hunks = lines.map(line => ({ line, offset: 0, fuzz: 0 }))
  return { path: relative, before, after, hasMark: before.format.bom, hunks }
}

/** Computes a unified diff of one file, or of all the files that it names. */
export function patchedFiles(
  deps: ToolDeps,
  patch: string,
  onlyPath: string | null,
  targets: readonly { readonly path: CallPath; readonly named: string }[],
): ModifiedFile[] {
  const files = new Map(targets.map(({ path, named }) => [named, { path, open: readIfThere(deps, path) }]))
  const texts = [...files.values()].flatMap(({ open }) => open?.text ?? [])
  return onShownOrRaw(texts, view => {
    const patched = deps.changes.applyPatch(patch, onlyPath, name => {
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

function readIfThere(deps: ToolDeps, { typed }: CallPath): OpenFile | null {
  return deps.workspace.locate(typed).kind === "missing" ? null : readOpen(deps, typed)
}

function readOpen(deps: ToolDeps, typed: string): OpenFile {
  const { sha256, text } = textState(deps, typed)
  const { bytes, sha256: bytesSha256 } = deps.workspace.readBytes(typed, deps.limits.editBytesMax)
  if (bytesSha256 !== sha256) throw changedMeanwhile(typed)
  return { before: { text: text.raw, format: text.format, sha256, bytes }, text }
}

/** A form of the files in which the author of a change may have seen them. */
interface View {
  textOf(text: FileText): string
  /** Returns the line of the file that this line of the view shows. */
  lineOf(text: FileText, line: number): number
}

const asShown: View = {
  textOf: ({ shown }) => shown.text,
  lineOf: ({ shown }, line) => originalLine(shown, line),
}
const asItIs: View = { textOf: ({ raw }) => raw, lineOf: (_, line) => line }

/**
 * Applies a change to the texts as shown, redacted, and if that fails to the texts as they are: its author may have
 * seen either. A failure is reported from the redacted texts, which hold no secret.
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
 * Applies edits that were written against a redacted text. Each edit touches only its own lines, so that equal lines
 * elsewhere leave no doubt about which secret belongs where.
 */
export function editShown(
  deps: ToolDeps,
  path: string,
  { raw, shown }: Pick<FileText, "raw" | "shown">,
  edits: readonly Edit[],
): Pick<EditedText, "text" | "lines"> {
  const { text, lines, ranges } = deps.changes.applyEdits(path, shown.text, edits)
  if (!shown.isRedacted) return { text: reinserted(path, shown, text), lines }
  return {
    text:
      editBeside(shown, ranges) ?? edits.reduce((current, edit) => editOnce(deps, path, current, edit), raw),
    lines: lines.map(line => originalLine(shown, line)),
  }
}

/**
 * Returns the original with edits that touch no line of a secret, or null where one does. Most edits of a large file
 * take this route, which does not read all of the file for each edit.
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

function editOnce(deps: ToolDeps, path: string, raw: string, edit: Edit): string {
  const shown = shownText(raw, deps.redactor)
  const edited = deps.changes.applyEdits(path, shown.text, [edit]).text
  const region = regionOf(deps, path, shown, edit)
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
    // A line may come from elsewhere in the file; then only the whole file shows which secret it holds.
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
  /** Set when a newline follows that does not belong to the region. */
  readonly leavesNewline: boolean
}

/** Returns the whole lines that an edit touches. The search uses a character that the text does not contain. */
function regionOf(deps: ToolDeps, path: string, { text }: ShownText, { search }: Edit): Region {
  const sign = absentFrom(text)
  const signed = deps.changes.applyEdits(path, text, [{ search, replace: sign }]).text
  const start = signed.indexOf(sign)
  const end = text.length - (signed.length - start - sign.length)
  // Before the first character stands no newline, and lastIndexOf would treat -1 as 0.
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
