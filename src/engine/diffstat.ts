import { counted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { isRedactedPath } from "../domain/text/redacted-json.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"
import type { TextChanges } from "../workspace/change/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import { type PathHistory, sessionChanges, type UnlistedChanges } from "./session-changes.ts"

/** The changes of a session in the workspace, file by file, in lines. The names are those of the JSON. */
export interface DiffStat {
  /** Entries in the order of their paths; only the first ones if there are very many. */
  readonly files: readonly FileStat[]
  readonly total: {
    readonly files: number
    readonly added: number
    readonly removed: number
    /** The number of files without line counts. */
    readonly uncounted: number
    /** The number of files that changed while a command of the session ran, by it or by a person; omitted if zero. */
    readonly duringCommands?: number
  }
  /** The changes of other programs meanwhile, as far as they are known; omitted if there are none. */
  readonly meanwhile?: readonly MeanwhileChange[]
}

/** A path that changed while a command of the session ran, but is not counted as a change of the session. */
export interface MeanwhileChange {
  readonly path: string
  /** `git`: checked out or committed. `command`: another command of acode ran at the same time. */
  readonly by: "git" | "command"
}

export interface FileStat {
  readonly path: string
  readonly change: "new" | "deleted" | "modified" | "mode"
  /** Null if lines cannot be counted; `note` has the reason. */
  readonly added: number | null
  readonly removed: number | null
  readonly note: string | null
}

export interface DiffStatParts {
  readonly workspace: Pick<Workspace, "readExact">
  readonly checkpoints: Pick<Checkpoints, "contentOf">
  readonly artifacts: ArtifactStore
  readonly changes: Pick<TextChanges, "countChanges">
  /** Returns whether another command of acode ran between two positions in the log. */
  readonly hasOthers: (from: number, to: number) => boolean
}

const filesMax = 1000
const fileBytesMax = 64 * 1024 * 1024
/** The maximum of bytes read, before and after together: further files are listed and not counted. */
const bytesMax = 128 * 1024 * 1024

/**
 * Counts the lines that a session added and removed, from the recorded copies of the previous files to the present
 * ones. Reads only the files that changed, and claims nothing about a file that another program changed since or that
 * has no copy. Changes during a command that show signs of another program are listed separately.
 */
export function diffStat(parts: DiffStatParts, events: Iterable<StoredEvent>): DiffStat {
  const { histories, unlisted } = sessionChanges(parts.artifacts, events)
  const budget = { bytes: bytesMax }
  const others = new Map<number, boolean>()
  const sorted = histories.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const seen = sorted
    .slice(0, filesMax)
    .map(history => ({ history, ...fileStat(parts, history, budget) }))
    .map(({ history, now, stat }) => ({ history, stat, by: otherHand(parts, history, now, others) }))
  const beyond = sorted.slice(filesMax).map(history => {
    const now = history.during?.hasHeadMoved ? presentContent(parts.workspace, history, budget) : null
    return { history, by: otherHand(parts, history, now, others) }
  })
  const own = seen.filter(({ by }) => by === null)
  const files = own.map(({ stat }) => stat)
  const all = [...seen, ...beyond]
  const meanwhile = all.flatMap(({ history: { path }, by }) => (by === null ? [] : [{ path, by }]))
  const nameless = unlisted.reduce((sum, { count }) => sum + count, 0)
  const counted = files.filter(({ added }) => added !== null)
  const count = histories.length - meanwhile.length + nameless
  const duringCommands = all.filter(({ history, by }) => by === null && history.during !== null).length
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
 * Returns which other program changed a path, if that shows. Git moved while the command ran and has the present
 * content: no confined command can cause that.
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

/** Returns the statistics of one file, with its present content if that was read. */
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
  // Each byte becomes one character, so that lines are counted in any encoding.
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

/** Returns what the session left, if it is unchanged. */
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

const changedSince: Content = { note: "changed by another program since" }

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
    return { note: "its old content was not stored" }
  }
}

const special: Content = { note: "not a regular file" }

/** Returns whether a path is a FIFO, socket or device, which are recorded by their kind. */
function isSpecial(content: string): boolean {
  return /^(fifo|socket|device):/.test(content)
}

/** Returns whether a file is binary, by the rule of git. */
function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8000).includes(0)
}

function unlistedStat({ callId, count }: UnlistedChanges): FileStat {
  return {
    path: `${counted(count, "file")} that ${callId} changed`,
    change: "modified" as const,
    added: null,
    removed: null,
    note: "the list of their names is lost",
  }
}
