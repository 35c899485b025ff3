import { canonicalJson, type Json } from "../base/canonical.ts"

/** How two values of a key compare when one of them comes from a file nobody has trusted. */
type Strictness =
  /** From the loosest to the strictest; what shares a rank is not stricter than the other. */
  | { readonly kind: "ranks"; readonly ranks: readonly (readonly Json[])[] }
  /** Every entry opens something: only those that hold anyway count. */
  | { readonly kind: "fewerEntries" }

/**
 * Keys that loosen security. From the project file they count only after `acode config trust`; until then the
 * stricter of the file and of what would hold without it is taken. Sections of later lanes add their keys here.
 */
const strictness: Readonly<Record<string, Strictness>> = {
  "execution.use_shell": { kind: "ranks", ranks: [[true], [false]] },
  "execution.sandbox": { kind: "ranks", ranks: [["none"], ["auto"], ["bwrap", "container"]] },
  "execution.network": { kind: "ranks", ranks: [["host"], ["none"]] },
  "execution.unix_sockets": { kind: "ranks", ranks: [["allow"], ["deny"]] },
  "execution.environment.mode": { kind: "ranks", ranks: [["merge"], ["inherit"], ["replace"]] },
  "execution.environment.include": { kind: "fewerEntries" },
  "execution.readable_paths": { kind: "fewerEntries" },
}

/** Lists that protect: each source adds to them, so that no file can take away what another one asked for. */
const accumulating: ReadonlySet<string> = new Set([
  "execution.environment.exclude_patterns",
  "execution.redaction.patterns",
])

export function loosensSecurity(key: string): boolean {
  return Object.hasOwn(strictness, key)
}

/** The value after a source that may say anything has spoken over what held before. */
export function overridden(key: string, held: Json, said: Json): Json {
  if (!accumulating.has(key)) return said
  return [...new Set([...entries(held), ...entries(said)])]
}

/** The stricter of what held before and what an untrusted file says. */
export function stricter(key: string, held: Json, said: Json): Json {
  const rule = strictness[key]
  if (rule === undefined) return overridden(key, held, said)
  if (rule.kind === "fewerEntries") {
    const known = new Set(entries(held).map(canonicalJson))
    return entries(said).filter(entry => known.has(canonicalJson(entry)))
  }
  const rank = (value: Json) => rule.ranks.findIndex(values => values.includes(value))
  return rank(said) > rank(held) ? said : held
}

export function isSame(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function entries(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : []
}
