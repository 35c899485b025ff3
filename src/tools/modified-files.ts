import { byteOrderMark } from "../base/text.ts"
import type { Failure } from "../domain/failure.ts"
import type { Edit, PlacedHunk } from "../workspace/change/contract.ts"
import type { TextFormat } from "../workspace/contract.ts"
import type { ToolRoom } from "./contract.ts"
import { changedMeanwhile, type FileText, isFailure, textState } from "./file-state.ts"
import type { CallPath } from "./path-effects.ts"
import { reinserted } from "./reinsertion.ts"
import { editShown } from "./shown-edits.ts"
import { originalLine } from "./shown-text.ts"

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
