import { quotedPath, shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import type { TextFormat, Workspace } from "../workspace/contract.ts"
import type { ToolDeps } from "./contract.ts"
import { type ShownText, shownText } from "./shown-text.ts"

/** The content of a file before it is changed. */
export interface FileState {
  readonly sha256: string
  readonly sizeBytes: number | null
  /** Null for a file that is not text or is too large to be read as text. */
  readonly text: FileText | null
}

export interface FileText {
  readonly raw: string
  readonly shown: ShownText
  readonly format: TextFormat
}

/** Reads the text of a file that is to be edited. Throws a Failure for a file without text. */
export function textState(deps: ToolDeps, path: string): FileState & { readonly text: FileText } {
  const { text, format, sha256 } = deps.workspace.readText(path, deps.limits.editBytesMax)
  const shown = shownText(text, deps.redactor)
  return { sha256, sizeBytes: null, text: { raw: text, shown, format } }
}

/** Reads a file that is to be replaced or removed, whatever its content. */
export function fileState(deps: ToolDeps, path: string): FileState {
  try {
    return textState(deps, path)
  } catch (error) {
    if (!isFailure(error, "ACODE-FS-006", "ACODE-FS-009")) throw error
    return { ...contentState(deps.workspace, path), text: null }
  }
}

/** The size above which tools do not replace or remove a file, because it could not be restored. */
const binaryBytesMax = 256 * 1024 * 1024

function contentState(workspace: Workspace, path: string): { sha256: string; sizeBytes: number } {
  try {
    // A request for no line reads the file in bounded memory, whatever its size.
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
    message: `${quotedPath(path)} was changed by another process meanwhile`,
    where: shownPath(path),
    hint: "read it again and repeat the change on its new content",
  })
}
