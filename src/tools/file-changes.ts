import { messageOf } from "../base/assert.ts"
import { sha256Hex } from "../base/canonical.ts"
import { exactLine, exactName } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import type { FileChange } from "../domain/tool-call.ts"
import type { DiffRow } from "../workspace/change/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import type { PreparedCall, ToolDeps, ToolResult } from "./contract.ts"
import { changedMeanwhile } from "./file-state.ts"

/** One file that will be written or removed. */
export interface PlannedChange {
  /** The resolved path. */
  readonly path: string
  /** The hash that the file must still have; null when no file may exist. */
  readonly before: string | null
  /** The new content; null removes the file. */
  readonly after: Uint8Array | null
  /** The content that restores the file, should a later change of the same call fail. */
  readonly undo: Uint8Array | null
  /**
   * Returns the preview: redacted for the record or, whole, for the user. Called only for a question, because it
   * costs more than the change itself.
   */
  readonly preview: (isWhole: boolean) => string
}

/** Returns a call that changes these files; `describe` turns the changes into its result. */
export function preparedChanges(
  workspace: Workspace,
  planned: readonly PlannedChange[],
  describe: (changes: readonly FileChange[]) => ToolResult,
): PreparedCall {
  const real = planned.filter(change => !isNoChange(change))
  const targets = real.map(({ path, before, after }) => ({
    path,
    before,
    after: after === null ? null : sha256Hex(after),
  }))
  return {
    targets,
    subject: { argv: [], cwd: ".", environment: {} },
    get preview() {
      return planned.map(({ preview }) => preview(false)).join("\n")
    },
    get whole() {
      return planned.map(({ preview }) => preview(true)).join("\n")
    },
    execute: async () => {
      makeChanges(workspace, real)
      return describe(targets)
    },
  }
}

export function isNoChange({ before, after }: Pick<PlannedChange, "before" | "after">): boolean {
  return before === (after === null ? null : sha256Hex(after))
}

/** Makes all changes or none, as far as possible: after a failure it restores the changed files from memory. */
function makeChanges(workspace: Workspace, planned: readonly PlannedChange[]): void {
  const done: PlannedChange[] = []
  for (const change of planned) {
    try {
      makeChange(workspace, change)
      done.push(change)
    } catch (error) {
      if (done.length === 0 || !(error instanceof Failure)) throw error
      const lost = done.toReversed().flatMap(made => putBack(workspace, made) ?? [])
      const fate =
        lost.length === 0
          ? `no file was changed: ${done.map(made => made.path).join(", ")} restored`
          : `these changed files could not be restored: ${lost.join(", ")}`
      throw new Failure({ ...error.report, message: `${error.report.message}; ${fate}` }, { cause: error })
    }
  }
}

function makeChange(workspace: Workspace, { path, before, after }: PlannedChange): void {
  if (after !== null) {
    workspace.write({ path, content: after, expected: before ?? "absent" })
    return
  }
  const { sha256 } = workspace.readBytes(path, Number.MAX_SAFE_INTEGER)
  if (sha256 !== before) throw changedMeanwhile(path)
  workspace.delete([path])
}

/** Restores one file and returns null, or the reason why it could not be restored. */
function putBack(workspace: Workspace, { path, after, undo }: PlannedChange): string | null {
  try {
    if (undo === null) workspace.delete([path])
    else workspace.write({ path, content: undo, expected: after === null ? "absent" : sha256Hex(after) })
    return null
  } catch (error) {
    return `${path} (${messageOf(error)})`
  }
}

/** One file of a change, as the question shows it. */
export interface PreviewedChange {
  readonly path: string
  /** Null for a file that does not exist or is not text. */
  readonly before: string | null
  readonly after: string | null
  /** Printed above the lines: `new file`, `binary, 120 bytes, is replaced`. */
  readonly remark: string | null
}

/**
 * Returns a change with line numbers. For the record both texts are redacted as a whole, or half a key could remain.
 */
export function changePreview(deps: ToolDeps, change: PreviewedChange, isWhole: boolean): string {
  const shown = (text: string | null) => (isWhole ? (text ?? "") : deps.redactor.redactText(text ?? ""))
  const [before, after] = [shown(change.before), shown(change.after)]
  const path = exactName(change.path)
  const head = change.remark === null ? path : `${path} (${change.remark})`
  const hunks = deps.changes.diffTexts(before, after)
  return [
    head,
    ...hunks.flatMap(({ oldStart, oldCount, newStart, newCount, rows }) => [
      `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`,
      ...rows.map(rowText),
    ]),
    "",
  ].join("\n")
}

const signs = { keep: " ", remove: "-", add: "+" } as const

function rowText({ kind, text, oldLine, newLine, isUnended }: DiffRow): string {
  const numbers = `${String(oldLine ?? "").padStart(5)} ${String(newLine ?? "").padStart(5)}`
  return `${numbers} ${signs[kind]}${exactLine(text)}${isUnended ? " (no newline at the end)" : ""}`
}
