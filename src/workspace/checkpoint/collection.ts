import type { Manifest } from "./manifest.ts"

/** The manifests and contents of all checkpoints. */
export interface KeptCheckpoints {
  /** Manifests by id; null for one that is damaged. */
  readonly manifests: ReadonlyMap<string, Manifest | null>
  readonly sizeOf: (sha256: string) => number
  /** Returns the bytes kept beside the contents; 0 where only contents are counted. */
  readonly sizeBeside: (id: string) => number
}

export interface PlannedCollection {
  readonly removed: readonly string[]
  /** Contents that stay; null when that is not known, because a checkpoint that stays is damaged. */
  readonly referenced: ReadonlySet<string> | null
  readonly freedBytes: number
}

/**
 * Decides which checkpoints are removed: the candidates in their order, until so many bytes are free, or all of them. A
 * checkpoint that another is based on stays until that one is removed.
 */
export function planCollection(
  kept: KeptCheckpoints,
  candidates: readonly string[],
  bytesWanted: number,
): PlannedCollection {
  // It is not known which contents a damaged one needs, and a person may repair it: then nothing is removed.
  const damaged = [...kept.manifests].flatMap(([id, manifest]) => (manifest === null ? [id] : []))
  const isStuck = damaged.some(id => !candidates.includes(id))
  if (isStuck && Number.isFinite(bytesWanted)) return { removed: [], referenced: null, freedBytes: 0 }
  const removal = new Removal(kept)
  for (const id of [...damaged.filter(id => candidates.includes(id)), ...candidates]) {
    if (removal.freedBytes >= bytesWanted) break
    removal.choose(id)
  }
  const removed = [...removal.removed]
  if (isStuck) return { removed, referenced: null, freedBytes: 0 }
  return { removed, referenced: removal.referenced(), freedBytes: removal.freedBytes }
}

/** Returns what each group frees when they are removed one after the other. */
export function freedByGroup(
  kept: KeptCheckpoints,
  groups: readonly (readonly string[])[],
): readonly number[] {
  const removal = new Removal(kept)
  return groups.map(group => {
    const before = removal.freedBytes
    for (const id of group) removal.choose(id)
    return removal.freedBytes - before
  })
}

/** Counts which contents are still needed while one checkpoint after the other is removed. */
class Removal {
  readonly removed = new Set<string>()
  freedBytes = 0
  private readonly chosen = new Set<string>()
  /** The number of checkpoints that name each content in their own lines. */
  private readonly uses = new Map<string, number>()
  private readonly dependents = new Map<string, number>()

  constructor(private readonly kept: KeptCheckpoints) {
    for (const manifest of kept.manifests.values()) {
      for (const content of contentsOf(manifest)) add(this.uses, content, 1)
      if (manifest?.base != null) add(this.dependents, manifest.base, 1)
    }
  }

  choose(id: string): void {
    if (!this.kept.manifests.has(id) || this.removed.has(id)) return
    this.chosen.add(id)
    if ((this.dependents.get(id) ?? 0) === 0) this.remove(id)
  }

  referenced(): ReadonlySet<string> {
    return new Set([...this.uses].flatMap(([content, count]) => (count > 0 ? [content] : [])))
  }

  private remove(id: string): void {
    this.removed.add(id)
    this.freedBytes += this.kept.sizeBeside(id)
    const manifest = this.kept.manifests.get(id) ?? null
    for (const content of contentsOf(manifest))
      if (add(this.uses, content, -1) === 0) this.freedBytes += this.kept.sizeOf(content)
    const base = manifest?.base ?? null
    if (base !== null && add(this.dependents, base, -1) === 0 && this.chosen.has(base)) this.remove(base)
  }
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): number {
  const count = (counts.get(key) ?? 0) + change
  counts.set(key, count)
  return count
}

function contentsOf(manifest: Manifest | null): ReadonlySet<string> {
  const contents = manifest?.entries.flatMap(([kind, , , , content]) => (kind === "f" ? [content] : [])) ?? []
  return new Set(contents)
}
