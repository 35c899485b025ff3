import { shownPath } from "../../base/path-names.ts"
import { counted } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import type { Redactor } from "../../redaction/contract.ts"
import type { ArtifactStore, StoredEvent } from "../../store/contract.ts"
import type { TextChanges } from "../../workspace/change/contract.ts"
import type { Checkpoints } from "../../workspace/checkpoint/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import { type PathHistory, sessionChanges } from "../session-changes.ts"
import type { BoundedText } from "../stages/contract.ts"
import { bytesTokens } from "./token-estimate.ts"

export interface ChangesParts {
  readonly workspace: Workspace
  readonly checkpoints: Checkpoints
  readonly artifacts: ArtifactStore
  readonly changes: TextChanges
  readonly redactor: Redactor
}

const fileBytesMax = 1024 * 1024

/**
 * Returns what the session changed, as unified diffs from before its first change of each file to the present
 * content. Limited in size, and redacted before it is compared: a hunk may show the middle of a key whose first line
 * it leaves out.
 */
export function sessionDiff(parts: ChangesParts, events: Iterable<StoredEvent>): BoundedText {
  const { histories, unlisted } = sessionChanges(parts.artifacts, events)
  const diffs = histories
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(history => ({ path: history.path, diff: () => diffOf(parts, history) }))
  const gone = unlisted.map(({ callId, count }) => {
    const path = `${counted(count, "file")} that ${callId} changed`
    return { path, diff: () => `${path}: not shown, the list of their names is lost\n` }
  })
  return boundedDiffs([...diffs, ...gone])
}

function diffOf(parts: ChangesParts, history: PathHistory): string {
  const { path } = history
  const before = contentBefore(parts, history)
  const after = contentNow(parts.workspace, path)
  if (before.kind === "named" || after.kind === "named") {
    const [was, is] = [before, after].map(content => (content.kind === "named" ? content.what : "text"))
    return `${shownPath(path)}: not shown as text (before: ${was}; now: ${is})\n`
  }
  const [old, present] = [before, after].map(({ text }) =>
    text === null ? null : parts.redactor.redactText(text),
  )
  const diff = parts.changes.unifiedDiff(path, old ?? null, present ?? null)
  if (diff !== "") return diff
  return before.text === after.text
    ? `${shownPath(path)}: only its mode changed, or nothing\n`
    : `${shownPath(path)}: only a secret changed\n`
}

/** The text of a file, with null for a missing one; or a description of what is there instead. */
type Content =
  | { readonly kind: "text"; readonly text: string | null }
  | { readonly kind: "named"; readonly what: string }

function contentBefore({ checkpoints }: ChangesParts, history: PathHistory): Content {
  if (history.before === null) return { kind: "text", text: null }
  const checkpoint = history.checkpointId === null ? null : checkpoints.load(history.checkpointId)
  const entry = checkpoint?.entries.get(history.path)
  if (entry === undefined) return { kind: "named", what: "no copy was kept" }
  if (entry.kind === "symlink") return { kind: "named", what: `a link to ${shownPath(entry.target)}` }
  if (entry.kind === "special") return { kind: "named", what: "not a regular file" }
  if (entry.sha256 === null) return { kind: "named", what: "not readable" }
  if (entry.sizeBytes > fileBytesMax) return { kind: "named", what: `${entry.sizeBytes} bytes` }
  const text = decoded(checkpoints.contentOf(entry.sha256))
  return text === null ? { kind: "named", what: "binary" } : { kind: "text", text }
}

function contentNow(workspace: Workspace, path: string): Content {
  try {
    const { kind } = workspace.locate(path)
    if (kind === "missing") return { kind: "text", text: null }
    const text = decoded(workspace.readBytes(path, fileBytesMax).bytes)
    return text === null ? { kind: "named", what: "binary" } : { kind: "text", text }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Too large, not a file any more, or a link that leads outside: the reviewer sees this reason, and the rest of
    // the diff.
    return { kind: "named", what: error.report.message }
  }
}

function decoded(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // Not UTF-8: as text it would be shown wrong.
    return null
  }
}

const bytesMax = 64 * 1024
/** One file alone may take at most half of the space. */
const diffBytesMax = bytesMax / 2

/** The size below which hardly any diff fits; the remaining ones are not computed, and count as this long. */
const roomBytesMin = 256

/** Returns as many diffs as fit, each computed only when it is needed; what is cut or left out is named. */
export function boundedDiffs(
  diffs: readonly { readonly path: string; readonly diff: () => string }[],
): BoundedText {
  const shown: string[] = []
  const leftOut: string[] = []
  let [bytesLeft, missingBytes] = [bytesMax, 0]
  for (const { path, diff } of diffs) {
    const whole = bytesLeft < roomBytesMin ? null : diff()
    const part = whole === null ? null : cut(whole, diffBytesMax)
    const bytes = part === null ? Number.POSITIVE_INFINITY : Buffer.byteLength(part.text)
    if (part !== null && bytes <= bytesLeft) {
      shown.push(part.text)
      bytesLeft -= bytes
      missingBytes += part.missingBytes
    } else {
      leftOut.push(path)
      missingBytes += whole === null ? roomBytesMin : Buffer.byteLength(whole)
    }
  }
  return { text: shown.join("") + namesOf(leftOut), leftOutTokens: bytesTokens(missingBytes) }
}

function namesOf(leftOut: readonly string[]): string {
  if (leftOut.length === 0) return ""
  const named = leftOut.slice(0, namesMax).join(", ")
  const more = leftOut.length > namesMax ? ` and ${leftOut.length - namesMax} more` : ""
  return `[also changed, and not shown here: ${named}${more}]\n`
}

const namesMax = 100

/** Cuts a diff to whole lines, and returns how many bytes are missing. */
function cut(diff: string, max: number): { readonly text: string; readonly missingBytes: number } {
  const wholeBytes = Buffer.byteLength(diff)
  if (wholeBytes <= max) return { text: diff, missingBytes: 0 }
  const lines = diff.replace(/\n$/, "").split("\n")
  const kept: string[] = []
  let bytes = 0
  for (const line of lines) {
    const lineBytes = Buffer.byteLength(line) + 1
    if (bytes + lineBytes > max) break
    bytes += lineBytes
    kept.push(line)
  }
  const told = `[${lines.length - kept.length} more lines of this file are not shown]`
  return { text: `${kept.join("\n")}\n${told}\n`, missingBytes: wholeBytes - bytes }
}
