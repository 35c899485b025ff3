import { counted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { isRedactedPath } from "../domain/text/redacted-json.ts"
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
    /** Files that changed while a command of the session ran, by it or by a person; left out where there are none. */
    readonly duringCommands?: number
  }
  /** What changed meanwhile by somebody else's hand, as far as that shows; left out where nothing did. */
  readonly meanwhile?: readonly MeanwhileChange[]
}

/** A path that changed while a command of the session ran, and that is not counted as the session's. */
export interface MeanwhileChange {
  readonly path: string
  /** `git`: checked out or committed. `command`: another command of acode ran at the same time. */
  readonly by: "git" | "command"
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
  /** Whether another command of acode ran between two places in the log. */
  readonly hasOthers: (from: number, to: number) => boolean
}

const filesMax = 1000
const fileBytesMax = 64 * 1024 * 1024
/** Read at most, before and after together: what is beyond is listed and not counted. */
const bytesMax = 128 * 1024 * 1024

/**
 * Counts the lines that a session added and removed, from the recorded copies of what was there before it to what is
 * there now. Reads the files that changed and no others, and claims nothing about one that somebody else changed since
 * or of which there is no copy. What changed while a command ran, and bears the sign of another hand, is told apart.
 */
export function diffStat(parts: DiffStatParts, events: Iterable<StoredEvent>): DiffStat {
  const { histories, unlisted } = sessionChanges(parts.artifacts, events)
  const budget = { bytes: bytesMax }
  const others = new Map<number, boolean>()
  const seen = histories
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, filesMax)
    .map(history => ({ history, ...fileStat(parts, history, budget) }))
    .map(({ history, now, stat }) => ({ history, stat, by: otherHand(parts, history, now, others) }))
  const own = seen.filter(({ by }) => by === null)
  const files = own.map(({ stat }) => stat)
  const meanwhile = seen.flatMap(({ history: { path }, by }) => (by === null ? [] : [{ path, by }]))
  const nameless = unlisted.reduce((sum, { count }) => sum + count, 0)
  const counted = files.filter(({ added }) => added !== null)
  const count = histories.length - meanwhile.length + nameless
  const duringCommands = own.filter(({ history: { during } }) => during !== null).length
  return {
    files: [...files, ...unlisted.map(unlistedStat)],
    total: {
      files: count,
      added: counted.reduce((sum, { added }) => sum + (added ?? 0), 0),
      removed: counted.reduce((sum, { removed }) => sum + (removed ?? 0), 0),
      uncounted: count - counted.length,
      ...(duringCommands === 0 ? {} : { duringCommands }),
    },
    ...(meanwhile.length === 0 ? {} : { meanwhile }),
  }
}

/**
 * Whose hand it was besides the command's, as far as that shows. Git moved while the command ran and has the file as it
 * is now: no confined command can bring that about.
 */
function otherHand(
  { hasOthers }: DiffStatParts,
  { during, after, mark }: PathHistory,
  now: Content | null,
  known: Map<number, boolean>,
): MeanwhileChange["by"] | null {
  if (during === null) return null
  if (during.hasHeadMoved) {
    const staged = mark?.staged ?? null
    const isAsInGit = after === null ? staged === null : staged !== null && isGitObject(now, staged)
    if (isAsInGit || now === changedSince) return "git"
  }
  const isBesideOthers = known.get(during.from) ?? hasOthers(during.from, during.to)
  known.set(during.from, isBesideOthers)
  return isBesideOthers ? "command" : null
}

function isGitObject(content: Content | null, id: string): boolean {
  if (content === null || "note" in content) return false
  const hasher = new Bun.CryptoHasher(id.length === 40 ? "sha1" : "sha256")
  return hasher.update(`blob ${content.bytes.length}\0`).update(content.bytes).digest("hex") === id
}

interface Budget {
  bytes: number
}

/** With what is there now, where that was looked at. */
function fileStat(parts: DiffStatParts, history: PathHistory, budget: Budget): Counted {
  const { path, before, after } = history
  const change = before === null ? "new" : after === null ? "deleted" : before === after ? "mode" : "modified"
  const uncounted = (note: string, now: Content | null = null): Counted => ({
    now,
    stat: { path, change, added: null, removed: null, note },
  })
  if (isRedactedPath(path)) return uncounted("its name was redacted")
  if (budget.bytes <= 0) return uncounted("not counted, because so much changed")
  if (change === "mode")
    return { now: null, stat: { path, change, added: 0, removed: 0, note: "only its mode changed" } }
  const now = presentContent(parts.workspace, history, budget)
  if ("note" in now) return uncounted(now.note, now)
  const was = formerContent(parts.checkpoints, before, budget)
  if ("note" in was) return uncounted(was.note, now)
  if (isBinary(was.bytes) || isBinary(now.bytes))
    return uncounted(`binary, ${was.bytes.length} → ${now.bytes.length} bytes`, now)
  // Each byte one character, so that lines are those of the bytes, whatever their encoding is.
  const [old, present] = [was.bytes, now.bytes].map(bytes => Buffer.from(bytes).toString("latin1"))
  const lines = parts.changes.countChanges(old ?? "", present ?? "")
  return { now, stat: { path, change, ...lines, note: null } }
}

interface Counted {
  readonly now: Content | null
  readonly stat: FileStat
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
    // Known by its size, times and inode: too large to be copied, or not readable.
    if (after.startsWith("stat:")) return { note: "too large or not readable, so not counted" }
    if (isSpecial(after)) return special
    const found = workspace.readExact(path, Math.min(fileBytesMax, budget.bytes))
    if (found === null) return changedSince
    budget.bytes -= found.bytes.length
    return found.content === after ? { bytes: found.bytes } : changedSince
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
