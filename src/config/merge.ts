import { unreachable } from "../base/assert.ts"
import { canonicalJson, type Json } from "../base/canonical.ts"
import { type Strictness, strictness, trustedOnly } from "./defaults.ts"
import { defaultLeaves, type Leaves, ownMember } from "./keys.ts"

export type ConfigOrigin = "default" | "user" | "project" | "environment" | "flag"

/** The values of one source. */
export interface ConfigLayer {
  readonly origin: Exclude<ConfigOrigin, "default">
  readonly leaves: Leaves
  /** Set for a source that may loosen security. An untrusted one may tighten it and set keys that do not affect it. */
  readonly isTrusted: boolean
}

export interface MergedConfig {
  readonly leaves: Leaves
  readonly origins: ReadonlyMap<string, ConfigOrigin>
}

/** Merges the layers into the defaults, weakest first. Pure. */
export function mergeLayers(layers: readonly ConfigLayer[]): MergedConfig {
  const leaves = new Map<string, Json>(defaultLeaves)
  const origins = new Map<string, ConfigOrigin>([...defaultLeaves.keys()].map(key => [key, "default"]))
  for (const layer of layers)
    for (const [key, proposed] of layer.leaves) {
      const current = leaves.get(key) ?? null
      const value = layer.isTrusted ? overridden(key, current, proposed) : stricter(key, current, proposed)
      // A layer whose untrusted value changed nothing is not the origin of the value in force.
      if (!isSameValue(value, proposed) && isSameValue(value, current)) continue
      leaves.set(key, value)
      origins.set(key, layer.origin)
    }
  return { leaves, origins }
}

/** Returns the keys of a layer that would loosen security over the values below it if the layer were trusted. */
export function looseningKeys(below: Leaves, layer: Leaves): string[] {
  return [...layer]
    .filter(([key, proposed]) => isHeldBack(key, below.get(key) ?? null, proposed))
    .map(([key]) => key)
}

/** The changes of a key for which a project's file needs trust. */
export type NeedsTrust = "nothing" | "loosening" | "everything"

export function needsTrust(key: string): NeedsTrust {
  const kind = strictnessOf(key).kind
  if (kind === "anything" || kind === "moreEntries") return "nothing"
  return kind === "trustedOnly" ? "everything" : "loosening"
}

function strictnessOf(key: string): Strictness {
  return strictness[key] ?? trustedOnly
}

/** The lists to which each source adds, so that no file can remove an entry of another one. */
const accumulating: ReadonlySet<string> = new Set([
  "execution.environment.exclude_patterns",
  "execution.redaction.patterns",
])

/** Returns the value of a key after a trusted source has proposed one over the current one. */
export function overridden(key: string, current: Json, proposed: Json): Json {
  // The rules of the stronger source come first; a refusal of the weaker one holds at any position of the list.
  if (strictnessOf(key).kind === "refusals") return distinct([...entries(proposed), ...entries(current)])
  return accumulating.has(key) ? distinct([...entries(current), ...entries(proposed)]) : proposed
}

/** Returns the stricter of the current value and the one that an untrusted file proposes. */
export function stricter(key: string, current: Json, proposed: Json): Json {
  const rule = strictnessOf(key)
  switch (rule.kind) {
    case "anything":
    case "moreEntries":
      return overridden(key, current, proposed)
    case "fewerEntries":
      return entries(proposed).filter(entry => isAmong(entries(current), entry))
    case "refusals":
      return distinct([...entries(current), ...entries(proposed).filter(refuses)])
    case "trustedOnly":
      return current
    case "shorter":
      return waitLimit(proposed) < waitLimit(current) ? proposed : current
    case "smaller":
      return ceiling(proposed) < ceiling(current) ? proposed : current
    case "ranks": {
      const rank = (value: Json) => rule.ranks.findIndex(values => values.includes(value))
      return rank(proposed) > rank(current) ? proposed : current
    }
    default:
      return unreachable(rule)
  }
}

/** Reports whether a part of the proposed value counts only once the file is trusted. */
function isHeldBack(key: string, current: Json, proposed: Json): boolean {
  const { kind } = strictnessOf(key)
  if (kind === "anything" || kind === "moreEntries") return false
  if (kind !== "refusals" && !accumulating.has(key))
    return !isSameValue(stricter(key, current, proposed), proposed)
  return entries(proposed).some(entry => !refuses(entry) && !isAmong(entries(current), entry))
}

export function isSameValue(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function refuses(rule: Json): boolean {
  const policy = ownMember(rule, "policy")
  return policy === "deny" || policy === "skip"
}

function ceiling(limit: Json): number {
  return typeof limit === "number" ? limit : Number.POSITIVE_INFINITY
}

function waitLimit(seconds: Json): number {
  return typeof seconds === "number" && seconds > 0 ? seconds : Number.POSITIVE_INFINITY
}

function isAmong(list: readonly Json[], entry: Json): boolean {
  return list.some(known => isSameValue(known, entry))
}

function distinct(list: readonly Json[]): readonly Json[] {
  return [...new Map(list.map(entry => [canonicalJson(entry), entry])).values()]
}

function entries(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : []
}
