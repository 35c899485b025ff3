import * as z from "zod/mini"
import { Failure } from "../../domain/failure.ts"
import { lazily } from "../../domain/lazily.ts"
import type { Tree, TreeEntry } from "../contract.ts"
import { digestOf } from "../tree/reader.ts"
import type { Checkpoint, ExpectedContents, TreeChanges } from "./contract.ts"

const Path = lazily(() => z.string().check(z.minLength(1)))
const Hash = lazily(() => z.string().check(z.regex(/^[0-9a-f]{64}$/)))
const EntryRow = lazily(() =>
  z.union([
    z.tuple([z.literal("f"), Path(), z.int(), z.int(), Hash()]),
    z.tuple([z.literal("l"), Path(), z.int(), z.int(), z.string()]),
  ]),
)
type EntryRow = z.infer<ReturnType<typeof EntryRow>>

/** What is written down: the whole of it, or what differs from another checkpoint. */
export const Manifest = lazily(() =>
  z.object({
    version: z.literal(1),
    id: z.string(),
    at: z.string(),
    scope: z.enum(["tree", "files"]),
    digest: z.string(),
    base: z.nullable(z.string()),
    /** How many bases are behind this one. */
    depth: z.int(),
    entries: z.array(EntryRow()),
    removed: z.array(Path()),
    absent: z.array(Path()),
    /** Path and mode. */
    directories: z.array(z.tuple([Path(), z.int()])),
  }),
)
export type Manifest = z.infer<ReturnType<typeof Manifest>>

/** Bases behind a checkpoint at most: a long chain costs more to read than a whole manifest. */
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
    version: 1,
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
  }
}

/** `entries` are those of the base. The digest proves that all pieces are the right ones. */
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
  return { id, at, scope, digest, entries, absent, directories }
}

/** What happened between a checkpoint and a tree. */
export function changesSince(before: Checkpoint["entries"], after: Tree["entries"]): TreeChanges {
  const left = new Set(before.keys())
  const added: string[] = []
  const changed: string[] = []
  for (const entry of after) {
    const old = before.get(entry.path)
    left.delete(entry.path)
    if (old === undefined) added.push(entry.path)
    else if (!isSameEntry(entry, old)) changed.push(entry.path)
  }
  return { added, changed, removed: [...left] }
}

/** What a restore of these changes may replace. */
export function contentsSince(before: Checkpoint["entries"], after: Tree["entries"]): ExpectedContents {
  const { added, changed, removed } = changesSince(before, after)
  const now = new Map(after.map(entry => [entry.path, entry]))
  return new Map([...added, ...changed, ...removed].map(path => [path, contentOf(now.get(path) ?? null)]))
}

export function contentOf(entry: TreeEntry | null): string | null {
  if (entry === null) return null
  return entry.kind === "file" ? entry.sha256 : `link:${entry.target}`
}

export function isSameEntry(a: TreeEntry, b: TreeEntry | undefined): boolean {
  if (b === undefined) return false
  if (a.kind === "file") return b.kind === "file" && a.sha256 === b.sha256 && a.mode === b.mode
  return b.kind === "symlink" && a.target === b.target
}

function rowOf(entry: TreeEntry): EntryRow {
  const { path, mode, sizeBytes } = entry
  return entry.kind === "file"
    ? ["f", path, mode, sizeBytes, entry.sha256 ?? ""]
    : ["l", path, mode, sizeBytes, entry.target]
}

function entryOf([kind, path, mode, sizeBytes, content]: EntryRow): TreeEntry {
  return kind === "f"
    ? { path, kind: "file", mode, sizeBytes, sha256: content }
    : { path, kind: "symlink", mode, sizeBytes, target: content }
}

/** Files of a directory before its directories, each by name: the order in which a tree is read. */
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
