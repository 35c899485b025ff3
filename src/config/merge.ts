import { unreachable } from "../base/assert.ts"
import { canonicalJson, type Json } from "../base/canonical.ts"
import type { defaultConfig } from "./defaults.ts"
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

/** What a project's file may do with a key before somebody has trusted it. */
type Strictness =
  /** Set it: nothing a person relies on hangs on it. */
  | { readonly kind: "anything" }
  /** From the loosest to the strictest; what shares a rank is not stricter than the other. */
  | { readonly kind: "ranks"; readonly ranks: readonly (readonly Json[])[] }
  /** Every entry opens something: only those that hold anyway count. */
  | { readonly kind: "fewerEntries" }
  /** Every entry closes something: those of a stronger source are added. */
  | { readonly kind: "moreEntries" }
  /** A list of rules: those that refuse count, behind the ones that hold; the others could let something through. */
  | { readonly kind: "refusals" }
  /** A span of time that ends in a refusal; 0 stands for no end. */
  | { readonly kind: "shorter" }
  /** A limit on what a command, a model or a session may take; null stands for none. */
  | { readonly kind: "smaller" }
  /** Nothing: less of it is as harmful as more, and what held before holds. */
  | { readonly kind: "trustedOnly" }

const anything: Strictness = { kind: "anything" }
const smaller: Strictness = { kind: "smaller" }
const trustedOnly: Strictness = { kind: "trustedOnly" }
const byPolicy: Strictness = { kind: "ranks", ranks: [["auto"], ["prompt"], ["skip"], ["deny"]] }

/** Every key, so that a new one does not compile before somebody has decided what a stranger's file may do with it. */
const strictness: Readonly<Record<string, Strictness>> = {
  schema_version: anything,
  // What holds where nobody says otherwise, and how acode shares out its work: no limits of a command.
  "execution.default_timeout_seconds": anything,
  "execution.max_concurrent": anything,
  "execution.max_queued": anything,
  "execution.kill_grace_seconds": anything,
  "execution.max_output_kb": smaller,
  // What is kept of an output is evidence.
  "execution.artifact_max_mb": trustedOnly,
  "execution.output_ceiling_mb": smaller,
  "execution.use_shell": { kind: "ranks", ranks: [[true], [false]] },
  "execution.sandbox": { kind: "ranks", ranks: [["none"], ["auto"], ["bwrap", "container"]] },
  "execution.network": { kind: "ranks", ranks: [["host"], ["none"]] },
  "execution.unix_sockets": { kind: "ranks", ranks: [["allow"], ["deny"]] },
  "execution.readable_paths": { kind: "fewerEntries" },
  "execution.environment.mode": { kind: "ranks", ranks: [["merge"], ["inherit"], ["replace"]] },
  "execution.environment.exclude_patterns": { kind: "moreEntries" },
  "execution.environment.include": { kind: "fewerEntries" },
  "execution.audit.enabled": anything,
  "execution.audit.retention_days": trustedOnly,
  "execution.audit.include_output": trustedOnly,
  "execution.audit.max_output_bytes": trustedOnly,
  "execution.redaction.enabled": anything,
  // A pattern of a stranger could hide from a person what a command does.
  "execution.redaction.patterns": trustedOnly,
  "execution.limits.memory_mb": smaller,
  "execution.limits.processes": smaller,
  "execution.limits.cpu_seconds": smaller,
  "execution.limits.file_mb": smaller,
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
  "executor.max_turns_per_step": smaller,
  "executor.step_timeout_seconds": smaller,
  "orchestration.planner_timeout_seconds": smaller,
  "orchestration.executor_timeout_seconds": smaller,
  "orchestration.verifier_timeout_seconds": smaller,
  "orchestration.reviewer_timeout_seconds": smaller,
  "orchestration.cycle_limit": smaller,
  "orchestration.step_retry_limit": smaller,
  "orchestration.stage_retry_limit": smaller,
  "commands.setup": trustedOnly,
  "commands.build": trustedOnly,
  "commands.test": trustedOnly,
  "commands.lint": trustedOnly,
  "commands.format": trustedOnly,
  "commands.start": trustedOnly,
  "mode.default": { kind: "ranks", ranks: [["local-only"], ["airgapped"]] },
  "mode.allow_burst": { kind: "ranks", ranks: [[true], [false]] },
  "mode.airgapped_lock": { kind: "ranks", ranks: [[false], [true]] },
  "model.provider": trustedOnly,
  // A server of this machine may have models that run elsewhere, and the name is what chooses them.
  "model.name": trustedOnly,
  "model.endpoint": trustedOnly,
  "model.timeout_seconds": smaller,
  "model.connect_timeout_seconds": smaller,
  "model.first_token_timeout_seconds": smaller,
  "model.token_timeout_seconds": smaller,
  "model.retry_count": smaller,
  // It holds the memory of the person's own server.
  "model.keep_alive": trustedOnly,
  "model.streaming": anything,
  "model.edit_format": anything,
  "model.parameters.temperature": anything,
  "model.parameters.top_p": anything,
  // They describe the model; what a session may take in all is bounded by --max-tokens and by the consent to a mode.
  "model.parameters.max_tokens": anything,
  "model.parameters.context_window": anything,
  // What a person is told a session has cost.
  "model.prices.input": trustedOnly,
  "model.prices.output": trustedOnly,
  "models.planner": trustedOnly,
  "models.executor": trustedOnly,
  "models.verifier": trustedOnly,
  "models.reviewer": trustedOnly,
  "models.tiers.opus": trustedOnly,
  "models.tiers.sonnet": trustedOnly,
  "models.tiers.haiku": trustedOnly,
  // Too little room takes away what could be undone, and too much of it takes the disk.
  "checkpoints.max_file_mb": trustedOnly,
  "checkpoints.max_total_mb": trustedOnly,
  "checkpoints.max_ignored_entries": trustedOnly,
  "checkpoints.undo_days": trustedOnly,
  "storage.max_total_mb": trustedOnly,
  "storage.quarantine_days": trustedOnly,
  // Paths inside of the workspace, and what a task is told: the project's own business.
  "skills.workspace": anything,
  "skills.directories": { kind: "fewerEntries" },
  // A larger model costs more.
  "skills.default_tier": trustedOnly,
  "skills.timeout_seconds": smaller,
  "skills.max_tokens": smaller,
  "skills.retry_count": smaller,
  "skills.retry_delay_ms": trustedOnly,
  "skills.retry_jitter": anything,
  "skills.retryable": { kind: "fewerEntries" },
  "skills.squads": anything,
  "skills.foundation": anything,
  "skills.context": anything,
  "skills.strict_context": anything,
  "skills.max_parallel": smaller,
} satisfies Readonly<Record<ConfigKeyName, Strictness>>

/** The dotted names of all keys that have a value of their own. */
type ConfigKeyName = KeysOf<typeof defaultConfig>
type KeysOf<Section> = {
  [Key in keyof Section & string]: Section[Key] extends Leaf ? Key : `${Key}.${KeysOf<Section[Key]>}`
}[keyof Section & string]
type Leaf = string | number | boolean | null | readonly unknown[]

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
