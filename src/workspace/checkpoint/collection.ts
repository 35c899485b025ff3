import type { Manifest } from "./manifest.ts"

/** What is known of everything that is kept. */
export interface Kept {
  /** By id; null for one that is damaged. */
  readonly manifests: ReadonlyMap<string, Manifest | null>
  readonly sizeOf: (sha256: string) => number
}

export interface PlannedCollection {
  readonly removed: readonly string[]
  /** Contents that stay; null when nobody knows, because one that stays is damaged. */
  readonly referenced: ReadonlySet<string> | null
  readonly freedBytes: number
}

/**
 * Decides which checkpoints go: the candidates in their order, until so many bytes are free, or all of them. One that
 * another is based on stays until that one goes.
 */
export function planCollection(
  kept: Kept,
  candidates: readonly string[],
  bytesWanted: number,
): PlannedCollection {
  // Nobody knows which contents a damaged one needs, and somebody may be able to mend it: then no room is made at all.
  const damaged = [...kept.manifests].flatMap(([id, manifest]) => (manifest === null ? [id] : []))
  const isStuck = damaged.some(id => !candidates.includes(id))
  if (isStuck && Number.isFinite(bytesWanted)) return { removed: [], referenced: null, freedBytes: 0 }
  const uses = usesOf(kept.manifests.values())
  const dependents = dependentsOf(kept.manifests.values())
  const removed = new Set<string>()
  const chosen = new Set<string>()
  let freedBytes = 0
  const remove = (id: string): void => {
    removed.add(id)
    const manifest = kept.manifests.get(id) ?? null
    for (const content of contentsOf(manifest)) {
      const left = (uses.get(content) ?? 0) - 1
      uses.set(content, left)
      if (left === 0) freedBytes += kept.sizeOf(content)
    }
    const base = manifest?.base ?? null
    if (base === null) return
    const left = (dependents.get(base) ?? 0) - 1
    dependents.set(base, left)
    if (left === 0 && chosen.has(base) && !removed.has(base)) remove(base)
  }
  for (const id of [...damaged.filter(id => candidates.includes(id)), ...candidates]) {
    if (freedBytes >= bytesWanted) break
    if (!kept.manifests.has(id) || removed.has(id)) continue
    chosen.add(id)
    if ((dependents.get(id) ?? 0) === 0) remove(id)
  }
  if (isStuck) return { removed: [...removed], referenced: null, freedBytes: 0 }
  const referenced = new Set([...uses].flatMap(([content, count]) => (count > 0 ? [content] : [])))
  return { removed: [...removed], referenced, freedBytes }
}

/** How many checkpoints name each content in their own lines. */
function usesOf(manifests: Iterable<Manifest | null>): Map<string, number> {
  const uses = new Map<string, number>()
  for (const manifest of manifests)
    for (const content of contentsOf(manifest)) uses.set(content, (uses.get(content) ?? 0) + 1)
  return uses
}

function dependentsOf(manifests: Iterable<Manifest | null>): Map<string, number> {
  const dependents = new Map<string, number>()
  for (const manifest of manifests)
    if (manifest?.base != null) dependents.set(manifest.base, (dependents.get(manifest.base) ?? 0) + 1)
  return dependents
}

function contentsOf(manifest: Manifest | null): ReadonlySet<string> {
  const contents = manifest?.entries.flatMap(([kind, , , , content]) => (kind === "f" ? [content] : [])) ?? []
  return new Set(contents)
}
