import type { Json } from "../base/canonical.ts"
import { defaultLeaves, type Leaves } from "./config-keys.ts"
import { isHeldBack, isSame, overridden, stricter } from "./config-loosening.ts"

export type ConfigOrigin = "default" | "user" | "project" | "environment" | "flag"

/** What one source says. */
export interface ConfigLayer {
  readonly origin: Exclude<ConfigOrigin, "default">
  readonly leaves: Leaves
  /** An untrusted layer may tighten security and change everything that has nothing to do with it. */
  readonly isTrusted: boolean
}

export interface MergedConfig {
  readonly leaves: Leaves
  readonly origins: ReadonlyMap<string, ConfigOrigin>
}

/** Lays the layers over the defaults, weakest first. Pure. */
export function mergeLayers(layers: readonly ConfigLayer[]): MergedConfig {
  const leaves = new Map<string, Json>(defaultLeaves)
  const origins = new Map<string, ConfigOrigin>([...defaultLeaves.keys()].map(key => [key, "default"]))
  for (const layer of layers)
    for (const [key, said] of layer.leaves) {
      const held = leaves.get(key) ?? null
      const value = layer.isTrusted ? overridden(key, held, said) : stricter(key, held, said)
      // An untrusted value that changed nothing is not where the value in force comes from.
      if (!isSame(value, said) && isSame(value, held)) continue
      leaves.set(key, value)
      origins.set(key, layer.origin)
    }
  return { leaves, origins }
}

/** The keys of a layer that would loosen security over what holds below it: what trusting it would let in. */
export function looseningKeys(below: Leaves, layer: Leaves): string[] {
  return [...layer].filter(([key, said]) => isHeldBack(key, below.get(key) ?? null, said)).map(([key]) => key)
}
