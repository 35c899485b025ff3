import { unreachable } from "../base/assert.ts"
import { canonicalJson, type Json } from "../base/canonical.ts"
import { ownMember } from "./config-keys.ts"

/** How two values of a key compare when one of them comes from a file nobody has trusted. */
type Strictness =
  /** From the loosest to the strictest; what shares a rank is not stricter than the other. */
  | { readonly kind: "ranks"; readonly ranks: readonly (readonly Json[])[] }
  /** Every entry opens something: only those that hold anyway count. */
  | { readonly kind: "fewerEntries" }
  /** A list of rules: those that refuse count, behind the ones that hold; the others could let something through. */
  | { readonly kind: "refusals" }
  /** A span of time that ends in a refusal; 0 stands for no end. */
  | { readonly kind: "shorter" }
  /** A limit on what is kept. */
  | { readonly kind: "smaller" }
  /** Every value is as loose as any other: what held before holds. */
  | { readonly kind: "trustedOnly" }

const byPolicy: Strictness = { kind: "ranks", ranks: [["auto"], ["prompt"], ["skip"], ["deny"]] }

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
  "approvals.file_read": byPolicy,
  "approvals.file_write": byPolicy,
  "approvals.file_delete": byPolicy,
  "approvals.directory_create": byPolicy,
  "approvals.terminal_commands": byPolicy,
  "approvals.external_requests": byPolicy,
  "approvals.non_interactive": { kind: "ranks", ranks: [["rest"], ["deny"]] },
  "approvals.timeout_seconds": { kind: "shorter" },
  rules: { kind: "refusals" },
  "executor.allowed_commands": { kind: "fewerEntries" },
  "commands.setup": { kind: "trustedOnly" },
  "commands.build": { kind: "trustedOnly" },
  "commands.test": { kind: "trustedOnly" },
  "commands.lint": { kind: "trustedOnly" },
  "commands.format": { kind: "trustedOnly" },
  "commands.start": { kind: "trustedOnly" },
  "mode.default": { kind: "ranks", ranks: [["local-only"], ["airgapped"]] },
  "mode.allow_burst": { kind: "ranks", ranks: [[true], [false]] },
  "mode.airgapped_lock": { kind: "ranks", ranks: [[false], [true]] },
  "model.provider": { kind: "trustedOnly" },
  "model.endpoint": { kind: "trustedOnly" },
  // A server of this machine may have models that run elsewhere, and the name is what chooses them.
  "model.name": { kind: "trustedOnly" },
  "models.planner": { kind: "trustedOnly" },
  "models.executor": { kind: "trustedOnly" },
  "models.verifier": { kind: "trustedOnly" },
  "models.reviewer": { kind: "trustedOnly" },
  "models.tiers.opus": { kind: "trustedOnly" },
  "models.tiers.sonnet": { kind: "trustedOnly" },
  "models.tiers.haiku": { kind: "trustedOnly" },
  "checkpoints.max_file_mb": { kind: "smaller" },
  "checkpoints.max_total_mb": { kind: "smaller" },
  "checkpoints.max_ignored_entries": { kind: "smaller" },
  "checkpoints.undo_days": { kind: "smaller" },
  // Too little room takes away what could be undone, and too much of it takes the disk.
  "storage.max_total_mb": { kind: "trustedOnly" },
  "storage.quarantine_days": { kind: "trustedOnly" },
  "skills.directories": { kind: "fewerEntries" },
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
  // The stronger source decides first; a refusal of the weaker one holds all the same, wherever it stands.
  if (strictness[key]?.kind === "refusals") return distinct([...entries(said), ...entries(held)])
  return accumulating.has(key) ? distinct([...entries(held), ...entries(said)]) : said
}

/** The stricter of what held before and what an untrusted file says. */
export function stricter(key: string, held: Json, said: Json): Json {
  const rule = strictness[key]
  if (rule === undefined) return overridden(key, held, said)
  switch (rule.kind) {
    case "fewerEntries":
      return entries(said).filter(entry => isAmong(entries(held), entry))
    case "refusals":
      return distinct([...entries(held), ...entries(said).filter(refuses)])
    case "trustedOnly":
      return held
    case "shorter":
      return patience(said) < patience(held) ? said : held
    case "smaller":
      return Number(said) < Number(held) ? said : held
    case "ranks": {
      const rank = (value: Json) => rule.ranks.findIndex(values => values.includes(value))
      return rank(said) > rank(held) ? said : held
    }
    default:
      return unreachable(rule)
  }
}

/** Whether some of what an untrusted file says for a key does not count: what trusting the file would let in. */
export function isHeldBack(key: string, held: Json, said: Json): boolean {
  const rule = strictness[key]
  if (rule === undefined) return false
  if (rule.kind !== "refusals") return !isSame(stricter(key, held, said), said)
  return entries(said).some(entry => !refuses(entry) && !isAmong(entries(held), entry))
}

export function isSame(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function refuses(rule: Json): boolean {
  const policy = ownMember(rule, "policy")
  return policy === "deny" || policy === "skip"
}

function patience(seconds: Json): number {
  return typeof seconds === "number" && seconds > 0 ? seconds : Number.POSITIVE_INFINITY
}

function isAmong(list: readonly Json[], entry: Json): boolean {
  return list.some(known => isSame(known, entry))
}

function distinct(list: readonly Json[]): readonly Json[] {
  return [...new Map(list.map(entry => [canonicalJson(entry), entry])).values()]
}

function entries(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : []
}
