import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { Failure } from "../../domain/failure.ts"
import type { Tree, TreeEntry } from "../contract.ts"
import { hashedPlaces } from "../tree/ignored.ts"
import { digestOf } from "../tree/reader.ts"
import type {
  Checkpoint,
  ExpectedContents,
  Ignoring,
  KeptState,
  PathReason,
  TreeChanges,
} from "./contract.ts"

const Path = lazily(() => z.string().check(z.minLength(1)))
const Hash = lazily(() => z.string().check(z.regex(/^[0-9a-f]{64}$/)))
const EntryRow = lazily(() =>
  z.union([
    z.tuple([z.literal("f"), Path(), z.int(), z.int(), Hash()]),
    z.tuple([z.literal("l"), Path(), z.int(), z.int(), z.string()]),
    /** A FIFO, a socket or a device. */
    z.tuple([z.literal("s"), Path(), z.int(), z.int(), z.string()]),
    /** A file whose content was not read, with its identity. */
    z.tuple([z.literal("u"), Path(), z.int(), z.int(), z.string().check(z.startsWith("stat:"))]),
  ]),
)
type EntryRow = z.infer<ReturnType<typeof EntryRow>>

/** A directory and its state, or the text of its ignore file. */
const Texts = lazily(() => z.tuple([z.string(), z.string()]))

/** Manifest is the stored form of a checkpoint: all of it, or the difference from another checkpoint. */
export const Manifest = lazily(() =>
  z.object({
    /** 1 has neither files that were not read nor `uncovered`. */
    version: z.literal([1, 2]),
    id: z.string(),
    at: z.string(),
    scope: z.enum(["tree", "files"]),
    digest: z.string(),
    base: z.nullable(z.string()),
    /** The number of bases behind this one. */
    depth: z.int(),
    entries: z.array(EntryRow()),
    removed: z.array(Path()),
    absent: z.array(Path()),
    /** Path and mode. */
    directories: z.array(z.tuple([Path(), z.int()])),
    /** Directories that did not exist. */
    missing: z.optional(z.array(Path())),
    /** Path and identity. */
    closed: z.optional(z.array(Texts())),
    /** Path and reason. */
    uncovered: z.optional(z.array(z.tuple([Path(), z.string()]))),
    /** Set for a checkpoint that was taken before a restore. */
    kept: z.optional(
      z.object({
        kind: z.enum(["undo", "recovery", "restore"]),
        sessionId: z.nullable(z.string()),
        subjectId: z.nullable(z.string()),
        leaves: z.array(z.tuple([Path(), z.nullable(z.string())])),
        leavesDirectories: z.array(z.tuple([Path(), z.nullable(z.int())])),
      }),
    ),
    ignoring: z.optional(
      z.object({
        rules: z.nullable(
          z.object({
            prefix: z.string(),
            above: z.array(Texts()),
            files: z.array(Texts()),
            tracked: z.array(Path()),
          }),
        ),
        /** Each directory with the hash of its state. */
        places: z.nullable(z.array(Texts())),
        unwatched: z.array(Path()),
      }),
    ),
  }),
)
export type Manifest = z.infer<ReturnType<typeof Manifest>>

/** The most bases behind a checkpoint: a long chain costs more to read than a complete manifest. */
const depthMax = 24

export function manifestOf(
  checkpoint: Checkpoint,
  base: Manifest | null,
  baseEntries: Checkpoint["entries"],
): Manifest {
  const { id, at, scope, digest, absent, directories } = checkpoint
  const useBase = base !== null && scope === "tree" && base.scope === "tree" && base.depth < depthMax
  const old = useBase ? baseEntries : new Map<string, TreeEntry>()
  return {
    version: 2,
    id,
    at,
    scope,
    digest,
    base: useBase ? base.id : null,
    depth: useBase ? base.depth + 1 : 0,
    entries: [...checkpoint.entries.values()]
      .filter(entry => !isSameEntry(entry, old.get(entry.path)))
      .map(rowOf),
    removed: [...old.keys()].filter(path => !checkpoint.entries.has(path)),
    absent: [...absent],
    directories: directories.map(({ path, mode }) => [path, mode]),
    ...(checkpoint.missing === undefined ? {} : { missing: [...checkpoint.missing] }),
    ...(checkpoint.closed === undefined ? {} : { closed: [...checkpoint.closed] }),
    uncovered: [...checkpoint.uncovered],
    ...(checkpoint.ignoring === undefined ? {} : { ignoring: ignoringRow(checkpoint.ignoring) }),
    ...(checkpoint.kept === undefined ? {} : { kept: keptRow(checkpoint.kept) }),
  }
}

function keptRow({ about, leaves, leavesDirectories }: KeptState): Manifest["kept"] {
  return { ...about, leaves: [...leaves], leavesDirectories: [...leavesDirectories] }
}

function keptState({ kept }: Manifest): { readonly kept?: KeptState } {
  if (kept === undefined) return {}
  const { kind, sessionId, subjectId } = kept
  const leaves = new Map(kept.leaves)
  return {
    kept: {
      about: { kind, sessionId, subjectId },
      leaves,
      leavesDirectories: new Map(kept.leavesDirectories),
    },
  }
}

function ignoringRow({ rules, files }: Ignoring): NonNullable<Manifest["ignoring"]> {
  const copy = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([path, text]): [string, string] => [path, text])
  return {
    rules:
      rules === null
        ? null
        : {
            prefix: rules.prefix,
            above: copy(rules.above),
            files: copy(rules.files),
            tracked: [...rules.tracked],
          },
    places: files === null ? null : copy(hashedPlaces(files)),
    unwatched: [...(files?.unwatched ?? [])],
  }
}

function ignoringOf({ ignoring }: Manifest): { readonly ignoring?: Ignoring } {
  if (ignoring === undefined) return {}
  const { rules, places, unwatched } = ignoring
  return { ignoring: { rules, files: places === null ? null : { places: new Map(places), unwatched } } }
}

/** Builds a checkpoint; `entries` are those of the base. The digest proves that all pieces are the right ones. */
export function checkpointOf(manifest: Manifest, base: Checkpoint["entries"]): Checkpoint {
  const all = new Map(base)
  for (const path of manifest.removed) all.delete(path)
  for (const row of manifest.entries) all.set(row[1], entryOf(row))
  const entries = new Map(inTreeOrder([...all.values()]).map(entry => [entry.path, entry]))
  if (digestOf(entries.values()) !== manifest.digest)
    throw new Failure({
      kind: "integrity",
      code: "ACODE-SEC-004",
      message: `the checkpoint ${manifest.id} does not match its digest`,
      where: manifest.id,
      hint: "it cannot be restored; use git or another copy",
    })
  const { id, at, scope, digest, absent } = manifest
  const directories = manifest.directories.map(([path, mode]) => ({ path, mode }))
  const uncovered = new Map(manifest.uncovered ?? [])
  return {
    id,
    at,
    scope,
    digest,
    entries,
    absent,
    directories,
    ...(manifest.missing === undefined ? {} : { missing: manifest.missing }),
    ...(manifest.closed === undefined ? {} : { closed: new Map(manifest.closed) }),
    uncovered,
    ...keptState(manifest),
    ...ignoringOf(manifest),
  }
}

/** The part of an earlier tree that is needed to find changes. */
export type EarlierTree = Pick<Checkpoint, "entries" | "uncovered">

/**
 * Returns the changes between a checkpoint and a tree. Files that become visible in a directory that could not be read
 * before, or disappear in one that cannot be read now, were neither added nor removed.
 */
export function changesSince(
  { entries: before, uncovered }: EarlierTree,
  { entries: after, closed }: Pick<Tree, "entries" | "closed">,
): TreeChanges {
  const wasHidden = belowAny([...uncovered.keys()].filter(path => path.endsWith("/")))
  const isHidden = belowAny(closed.map(({ path }) => `${path}/`))
  const left = new Set(before.keys())
  const added: string[] = []
  const changed: string[] = []
  for (const entry of after) {
    const old = before.get(entry.path)
    left.delete(entry.path)
    if (old === undefined && !wasHidden(entry.path)) added.push(entry.path)
    else if (old === undefined) continue
    else if (!isSameEntry(entry, old)) changed.push(entry.path)
  }
  return { added, changed, removed: [...left].filter(path => !isHidden(path)) }
}

/** Returns whether a path is below any of the directories, each of which ends in a slash; `./` is the root. */
function belowAny(directories: readonly string[]): (path: string) => boolean {
  if (directories.includes("./")) return () => true
  return path => directories.some(directory => `${path}/`.startsWith(directory))
}

/** Returns what a restore of these changes may replace. */
export function contentsSince(
  before: EarlierTree,
  after: Pick<Tree, "entries" | "closed">,
): ExpectedContents {
  const { added, changed, removed } = changesSince(before, after)
  const now = new Map(after.entries.map(entry => [entry.path, entry]))
  return new Map([...added, ...changed, ...removed].map(path => [path, contentOf(now.get(path) ?? null)]))
}

/**
 * Returns the directories that were added, removed or have another mode, each with the mode it has now; null when it
 * does not exist.
 */
export function directoriesSince(
  before: Checkpoint["directories"],
  after: Tree["directories"],
): ReadonlyMap<string, number | null> {
  const [old, now] = [before, after].map(all => new Map(all.map(({ path, mode }) => [path, mode])))
  const paths = new Set([...before, ...after].map(({ path }) => path))
  // The root is neither added nor removed; earlier checkpoints do not know its mode.
  const isKnown = (path: string) => path !== "." || (old?.has(path) === true && now?.has(path) === true)
  const differing = [...paths].filter(path => old?.get(path) !== now?.get(path) && isKnown(path))
  return new Map(differing.map(path => [path, now?.get(path) ?? null]))
}

/**
 * Returns paths that could not be inspected before or cannot now, and were touched meanwhile: what changed there is not
 * known.
 */
export function hiddenSince(
  { closed: before }: Pick<Checkpoint, "closed">,
  { closed: after }: Pick<Tree, "closed">,
): readonly PathReason[] {
  // A checkpoint without the earlier state cannot show a change.
  if (before === undefined) return []
  const now = new Map(after.map(({ path, identity }) => [path, identity]))
  const opened = [...before].filter(([path, identity]) => now.get(path) !== identity).map(([path]) => path)
  const shut = [...now.keys()].filter(path => !before.has(path))
  return [
    ...opened.map(path => ({ path: `${path}/`, reason: "it could not be read before, and it was touched" })),
    ...shut.map(path => ({
      path: `${path}/`,
      reason: "it cannot be read any more, so what changed there is not known",
    })),
  ]
}

export function contentOf(entry: TreeEntry | null): string | null {
  if (entry === null) return null
  if (entry.kind === "special") return entry.special
  return entry.kind === "file" ? (entry.sha256 ?? entry.identity ?? null) : `link:${entry.target}`
}

export function isSameEntry(a: TreeEntry, b: TreeEntry | undefined): boolean {
  if (a.kind !== b?.kind || contentOf(a) !== contentOf(b)) return false
  // A symlink has no mode.
  return a.kind === "symlink" || a.mode === b.mode
}

function rowOf(entry: TreeEntry): EntryRow {
  const { path, mode, sizeBytes } = entry
  if (entry.kind === "symlink") return ["l", path, mode, sizeBytes, entry.target]
  if (entry.kind === "special") return ["s", path, mode, sizeBytes, entry.special]
  return entry.sha256 === null
    ? ["u", path, mode, sizeBytes, entry.identity ?? ""]
    : ["f", path, mode, sizeBytes, entry.sha256]
}

function entryOf([kind, path, mode, sizeBytes, content]: EntryRow): TreeEntry {
  if (kind === "l") return { path, kind: "symlink", mode, sizeBytes, target: content }
  if (kind === "s") return { path, kind: "special", mode, sizeBytes, special: content }
  return kind === "u"
    ? { path, kind: "file", mode, sizeBytes, sha256: null, identity: content }
    : { path, kind: "file", mode, sizeBytes, sha256: content }
}

/** Orders files of a directory before its directories, each by name: the order in which a tree is read. */
export function inTreeOrder(entries: readonly TreeEntry[]): TreeEntry[] {
  const keyed = entries.map(entry => ({ entry, names: entry.path.split("/") }))
  return keyed.sort((a, b) => compareNames(a.names, b.names)).map(({ entry }) => entry)
}

function compareNames(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; ; index++) {
    const [left, right] = [a[index] ?? "", b[index] ?? ""]
    const leftIsLast = index >= a.length - 1
    const rightIsLast = index >= b.length - 1
    if (leftIsLast !== rightIsLast) return leftIsLast ? -1 : 1
    if (left !== right) return left < right ? -1 : 1
    if (leftIsLast) return 0
  }
}
