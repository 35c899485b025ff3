import { unreachable } from "../base/assert.ts"
import { canonicalJson, type Json } from "../base/canonical.ts"
import { type Strictness, strictness, trustedOnly } from "./defaults.ts"
import { defaultLeaves, type Leaves, ownMember } from "./keys.ts"

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
      if (!isSameValue(value, said) && isSameValue(value, held)) continue
      leaves.set(key, value)
      origins.set(key, layer.origin)
    }
  return { leaves, origins }
}

/** The keys of a layer that would loosen security over what holds below it: what trusting it would let in. */
export function looseningKeys(below: Leaves, layer: Leaves): string[] {
  return [...layer].filter(([key, said]) => isHeldBack(key, below.get(key) ?? null, said)).map(([key]) => key)
}

/** What of a key a project's file needs trust for. */
export type NeedsTrust = "nothing" | "loosening" | "everything"

export function needsTrust(key: string): NeedsTrust {
  const kind = strictnessOf(key).kind
  if (kind === "anything" || kind === "moreEntries") return "nothing"
  return kind === "trustedOnly" ? "everything" : "loosening"
}

function strictnessOf(key: string): Strictness {
  return strictness[key] ?? trustedOnly
}

/** Lists to which each source adds, so that no file can take away what another one asked for. */
const accumulating: ReadonlySet<string> = new Set([
  "execution.environment.exclude_patterns",
  "execution.redaction.patterns",
])

/** The value after a source that may say anything has spoken over what held before. */
export function overridden(key: string, held: Json, said: Json): Json {
  // The stronger source decides first; a refusal of the weaker one holds all the same, wherever it stands.
  if (strictnessOf(key).kind === "refusals") return distinct([...entries(said), ...entries(held)])
  return accumulating.has(key) ? distinct([...entries(held), ...entries(said)]) : said
}

/** The stricter of what held before and what an untrusted file says. */
export function stricter(key: string, held: Json, said: Json): Json {
  const rule = strictnessOf(key)
  switch (rule.kind) {
    case "anything":
    case "moreEntries":
      return overridden(key, held, said)
    case "fewerEntries":
      return entries(said).filter(entry => isAmong(entries(held), entry))
    case "refusals":
      return distinct([...entries(held), ...entries(said).filter(refuses)])
    case "trustedOnly":
      return held
    case "shorter":
      return patience(said) < patience(held) ? said : held
    case "smaller":
      return ceiling(said) < ceiling(held) ? said : held
    case "ranks": {
      const rank = (value: Json) => rule.ranks.findIndex(values => values.includes(value))
      return rank(said) > rank(held) ? said : held
    }
    default:
      return unreachable(rule)
  }
}

/** Whether some of what an untrusted file says for a key does not count: what trusting the file would let in. */
function isHeldBack(key: string, held: Json, said: Json): boolean {
  const { kind } = strictnessOf(key)
  if (kind === "anything" || kind === "moreEntries") return false
  if (kind !== "refusals" && !accumulating.has(key)) return !isSameValue(stricter(key, held, said), said)
  return entries(said).some(entry => !refuses(entry) && !isAmong(entries(held), entry))
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

function patience(seconds: Json): number {
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
