import { messageOf } from "../base/assert.ts"
import { sha256Hex } from "../base/canonical.ts"
import { exactLine, exactName } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import type { FileChange } from "../domain/tool-call.ts"
import type { DiffRow } from "../workspace/change/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import type { PreparedCall, ToolResult, ToolRoom } from "./contract.ts"
import { changedMeanwhile } from "./file-state.ts"

/** One file that will be written or removed. */
export interface PlannedChange {
  /** Where it really is. */
  readonly path: string
  /** The hash that must still be there; null when nothing may be. */
  readonly before: string | null
  /** Null removes the file. */
  readonly after: Uint8Array | null
  /** What puts the file back as it was, should a later change of the same call fail. */
  readonly undo: Uint8Array | null
  /** Made when somebody is asked: it costs more than the change itself. For the record or, whole, for a person. */
  readonly preview: (isWhole: boolean) => string
}

/** What a call that changes files will do; `describe` tells of it when it is done. */
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

/** All of them, or none as far as that can be: what was changed before a failure is put back from memory. */
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
          ? `nothing is changed: ${done.map(made => made.path).join(", ")} put back as before`
          : `what was changed before could not be put back: ${lost.join(", ")}`
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

/** Null when the file is as it was; else why it is not. */
function putBack(workspace: Workspace, { path, after, undo }: PlannedChange): string | null {
  try {
    if (undo === null) workspace.delete([path])
    else workspace.write({ path, content: undo, expected: after === null ? "absent" : sha256Hex(after) })
    return null
  } catch (error) {
    return `${path} (${messageOf(error)})`
  }
}

/** One file of a change, as a person is asked about it. */
export interface PreviewedChange {
  readonly path: string
  /** Null for what is not there, or is no text. */
  readonly before: string | null
  readonly after: string | null
  /** Said above the lines: `new file`, `binary, 120 bytes, is replaced`. */
  readonly remark: string | null
}

/** A change with the numbers of its lines. For the record both texts are redacted whole, or half a key could stay. */
export function changePreview(room: ToolRoom, change: PreviewedChange, isWhole: boolean): string {
  const shown = (text: string | null) => (isWhole ? (text ?? "") : room.redactor.redactText(text ?? ""))
  const [before, after] = [shown(change.before), shown(change.after)]
  const path = exactName(change.path)
  const head = change.remark === null ? path : `${path} (${change.remark})`
  const hunks = room.changes.diffTexts(before, after)
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
