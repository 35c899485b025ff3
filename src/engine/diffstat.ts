import { counted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { isRedactedPath } from "../domain/redacted-path.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"
import type { TextChanges } from "../workspace/change/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import { type PathHistory, sessionChanges, type UnlistedChanges } from "./session-changes.ts"

/** What a session changed in the workspace, file by file, in lines. The names are those of the JSON. */
export interface DiffStat {
  /** By path; the first ones where there are very many. */
  readonly files: readonly FileStat[]
  readonly total: {
    readonly files: number
    readonly added: number
    readonly removed: number
    /** Files whose lines are in neither of the two. */
    readonly uncounted: number
  }
}

export interface FileStat {
  readonly path: string
  readonly change: "new" | "deleted" | "modified" | "mode"
  /** Null where lines cannot be counted, and `note` says why. */
  readonly added: number | null
  readonly removed: number | null
  readonly note: string | null
}

export interface DiffStatParts {
  readonly workspace: Pick<Workspace, "readExact">
  readonly checkpoints: Pick<Checkpoints, "contentOf">
  readonly artifacts: ArtifactStore
  readonly changes: Pick<TextChanges, "countChanges">
}

const filesMax = 1000
const fileBytesMax = 64 * 1024 * 1024
/** Read at most, before and after together: what is beyond is listed and not counted. */
const bytesMax = 128 * 1024 * 1024

/**
 * Counts the lines that a session added and removed, from the recorded copies of what was there before it to what is
 * there now. Reads the files that changed and no others, and claims nothing about one that somebody else changed since
 * or of which there is no copy.
 */
export function diffStat(parts: DiffStatParts, events: Iterable<StoredEvent>): DiffStat {
  const { histories, unlisted } = sessionChanges(parts.artifacts, events)
  const budget = { bytes: bytesMax }
  const files = histories
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, filesMax)
    .map(history => fileStat(parts, history, budget))
  const nameless = unlisted.reduce((sum, { count }) => sum + count, 0)
  const counted = files.filter(({ added }) => added !== null)
  const count = histories.length + nameless
  return {
    files: [...files, ...unlisted.map(unlistedStat)],
    total: {
      files: count,
      added: counted.reduce((sum, { added }) => sum + (added ?? 0), 0),
      removed: counted.reduce((sum, { removed }) => sum + (removed ?? 0), 0),
      uncounted: count - counted.length,
    },
  }
}

interface Budget {
  bytes: number
}

function fileStat(parts: DiffStatParts, history: PathHistory, budget: Budget): FileStat {
  const { path, before, after } = history
  const change = before === null ? "new" : after === null ? "deleted" : before === after ? "mode" : "modified"
  const uncounted = (note: string): FileStat => ({ path, change, added: null, removed: null, note })
  if (isRedactedPath(path)) return uncounted("its name was redacted")
  if (budget.bytes <= 0) return uncounted("not counted, because so much changed")
  if (change === "mode") return { path, change, added: 0, removed: 0, note: "only its mode changed" }
  const now = presentContent(parts.workspace, history, budget)
  if ("note" in now) return uncounted(now.note)
  const was = formerContent(parts.checkpoints, before, budget)
  if ("note" in was) return uncounted(was.note)
  if (isBinary(was.bytes) || isBinary(now.bytes))
    return uncounted(`binary, ${was.bytes.length} → ${now.bytes.length} bytes`)
  // Each byte one character, so that lines are those of the bytes, whatever their encoding is.
  const [old, present] = [was.bytes, now.bytes].map(bytes => Buffer.from(bytes).toString("latin1"))
  return { path, change, ...parts.changes.countChanges(old ?? "", present ?? ""), note: null }
}

type Content = { readonly bytes: Uint8Array } | { readonly note: string }

const nothing: Content = { bytes: new Uint8Array() }
const link = "link:"

/** What the session left, as long as it is there. */
function presentContent(
  workspace: DiffStatParts["workspace"],
  history: PathHistory,
  budget: Budget,
): Content {
  const { path, after } = history
  try {
    if (after === null) return workspace.readExact(path, 0) === null ? nothing : changedSince
    if (after.startsWith(link)) return { bytes: Buffer.from(after.slice(link.length)) }
    // Known by its size, times and inode: too large to be copied, or not readable.
    if (after.startsWith("stat:")) return { note: "too large or not readable, so not counted" }
    if (isSpecial(after)) return special
    const found = workspace.readExact(path, Math.min(fileBytesMax, budget.bytes))
    if (found === null) return changedSince
    budget.bytes -= found.bytes.length
    return found.sha256 === after ? { bytes: found.bytes } : changedSince
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.report.code === "ACODE-FS-006" && after !== null
      ? { note: "too large to be counted" }
      : changedSince
  }
}

const changedSince: Content = { note: "changed by somebody else since" }

function formerContent(
  checkpoints: DiffStatParts["checkpoints"],
  before: string | null,
  budget: Budget,
): Content {
  if (before === null) return nothing
  if (before.startsWith(link)) return { bytes: Buffer.from(before.slice(link.length)) }
  if (isSpecial(before)) return special
  try {
    const bytes = checkpoints.contentOf(before)
    budget.bytes -= bytes.length
    return { bytes }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { note: "no copy of what it was" }
  }
}

const special: Content = { note: "no regular file" }

/** FIFOs, sockets and devices are recorded by their kind. */
function isSpecial(content: string): boolean {
  return /^(fifo|socket|device):/.test(content)
}

/** As git tells it. */
function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8000).includes(0)
}

function unlistedStat({ callId, count }: UnlistedChanges): FileStat {
  return {
    path: `${counted(count, "file")} that ${callId} changed`,
    ...{ change: "modified" as const, added: null, removed: null },
    note: "the list of their names is gone",
  }
}
