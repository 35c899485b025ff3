import { quotedPath, shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import type { TextFormat, Workspace } from "../workspace/contract.ts"
import type { ToolRoom } from "./contract.ts"
import { type ShownText, shownText } from "./shown-text.ts"

/** What a file holds before it is changed. */
export interface FileState {
  readonly sha256: string
  readonly sizeBytes: number | null
  /** Null for what is no text, or too large to be looked at as one. */
  readonly text: FileText | null
}

export interface FileText {
  readonly raw: string
  readonly shown: ShownText
  readonly format: TextFormat
}

/** The text of a file that is to be edited. Throws where there is none. */
export function textState(room: ToolRoom, path: string): FileState & { readonly text: FileText } {
  const { text, format, sha256 } = room.workspace.readText(path, room.limits.editBytesMax)
  const shown = shownText(text, room.redactor)
  return { sha256, sizeBytes: null, text: { raw: text, shown, format } }
}

/** A file that is to be replaced or removed, whatever it holds. */
export function fileState(room: ToolRoom, path: string): FileState {
  try {
    return textState(room, path)
  } catch (error) {
    if (!isFailure(error, "ACODE-FS-006", "ACODE-FS-009")) throw error
    return { ...contentState(room.workspace, path), text: null }
  }
}

/** Larger files are not replaced or removed by tools: nothing could put them back. */
const binaryBytesMax = 256 * 1024 * 1024

function contentState(workspace: Workspace, path: string): { sha256: string; sizeBytes: number } {
  try {
    // Asking for no line at all reads the file in bounded memory, whatever its size.
    return workspace.readLines(path, { fromLine: 1, lineCount: 0, bytesMax: 0, sizeMax: binaryBytesMax })
  } catch (error) {
    if (!isFailure(error, "ACODE-FS-009")) throw error
    const { sha256, bytes } = workspace.readBytes(path, binaryBytesMax)
    return { sha256, sizeBytes: bytes.length }
  }
}

export function isFailure(error: unknown, ...codes: readonly string[]): error is Failure {
  return error instanceof Failure && codes.includes(error.report.code)
}

export function changedMeanwhile(path: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-FS-007",
    message: `${quotedPath(path)} was changed by somebody else meanwhile`,
    where: shownPath(path),
    hint: "read it again and repeat the change on what it holds now",
  })
}
