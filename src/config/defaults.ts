import type { Json } from "../base/canonical.ts"
import { defaultRetryableErrors } from "../domain/skill/execution-error.ts"

/**
 * The defaults of all keys. Plain data, so that a start without configuration files loads neither a schema library nor
 * a YAML parser; the schemas take their defaults from here. A nested object is a section; an empty object would be a
 * key whose value is a map.
 */
export const defaultConfig = {
  schema_version: "1" as const,
  execution: {
    default_timeout_seconds: 300,
    max_output_kb: 1024,
    artifact_max_mb: 16,
    output_ceiling_mb: 16_384,
    use_shell: false,
    max_concurrent: 4,
    max_queued: 1000,
    kill_grace_seconds: 0.5,
    sandbox: "auto" as const,
    network: "none" as const,
    unix_sockets: "deny" as const,
    readable_paths: [],
    environment: {
      mode: "inherit" as const,
      exclude_patterns: ["*_TOKEN", "*_KEY", "*_SECRET", "*_PASSWORD"],
      include: ["PATH", "HOME", "TEMP", "TMP"],
    },
    audit: {
      enabled: true as const,
      retention_days: 90,
      include_output: true,
      max_output_bytes: 10_240,
    },
    redaction: { enabled: true as const, patterns: [] },
    limits: { memory_mb: null, processes: null, cpu_seconds: null, file_mb: null },
  },
  approvals: {
    file_read: "auto" as const,
    file_write: "prompt" as const,
    file_delete: "prompt" as const,
    directory_create: "auto" as const,
    terminal_commands: "prompt" as const,
    external_requests: "prompt" as const,
    non_interactive: "deny" as const,
    timeout_seconds: 300,
  },
  rules: [],
  executor: { allowed_commands: [], max_turns_per_step: 10, step_timeout_seconds: 120 },
  orchestration: {
    planner_timeout_seconds: 120,
    executor_timeout_seconds: null,
    verifier_timeout_seconds: 180,
    reviewer_timeout_seconds: 120,
    cycle_limit: 3,
    step_retry_limit: 3,
    stage_retry_limit: 2,
  },
  planner: { explore_turns_max: 12 },
  commands: { setup: null, build: null, test: null, lint: null, format: null, start: null },
  mode: { default: "local-only" as const, allow_burst: true, airgapped_lock: false },
  model: {
    provider: "auto" as const,
    name: null,
    endpoint: null,
    timeout_seconds: 600,
    connect_timeout_seconds: 5,
    first_token_timeout_seconds: 300,
    token_timeout_seconds: 60,
    retry_count: 2,
    keep_alive: "30m",
    streaming: true,
    edit_format: "auto" as const,
    parameters: { temperature: null, top_p: null, max_tokens: 4096, context_window: null },
    prices: { input: null, output: null },
  },
  models: {
    planner: null,
    executor: null,
    verifier: null,
    reviewer: null,
    tiers: { opus: null, sonnet: null, haiku: null },
  },
  checkpoints: { max_file_mb: 64, max_total_mb: 2048, max_ignored_entries: 50_000, undo_days: 7 },
  storage: { max_total_mb: 4096, quarantine_days: 30 },
  code: { enabled: true, max_file_kb: 2048, exclude: [], check_timeout_seconds: 120, checkers: [] },
  skills: {
    workspace: ".",
    directories: [],
    default_tier: "sonnet" as const,
    timeout_seconds: 120,
    max_tokens: 4096,
    retry_count: 2,
    retry_delay_ms: 1000,
    retry_jitter: false,
    retryable: [...defaultRetryableErrors],
    squads: [],
    foundation: "product-marketing-context",
    context: "context/product-marketing-context.md",
    strict_context: false,
    max_parallel: 4,
  },
}

/** Limits what a project's file may do with a key before the user has trusted the file. */
export type Strictness =
  /** Any value counts: no security depends on the key. */
  | { readonly kind: "anything" }
  /** A value counts only if it is stricter. Ranks go from loosest to strictest; values of one rank are equal. */
  | { readonly kind: "ranks"; readonly ranks: readonly (readonly Json[])[] }
  /** Each entry loosens: only entries that are in force without the file count. */
  | { readonly kind: "fewerEntries" }
  /** Each entry tightens: the file's entries are added. */
  | { readonly kind: "moreEntries" }
  /** A list of rules: only those that refuse count, after the ones in force; the others could allow something. */
  | { readonly kind: "refusals" }
  /** A time after which a question is refused, where only a shorter one counts; 0 means no limit. */
  | { readonly kind: "shorter" }
  /** A limit on what a command, a model or a session may use, where only a smaller one counts; null means none. */
  | { readonly kind: "smaller" }
  /** No value counts, because a smaller one does as much harm as a larger one. */
  | { readonly kind: "trustedOnly" }

const anything: Strictness = { kind: "anything" }
const smaller: Strictness = { kind: "smaller" }
export const trustedOnly: Strictness = { kind: "trustedOnly" }
const byPolicy: Strictness = { kind: "ranks", ranks: [["auto"], ["prompt"], ["skip"], ["deny"]] }

/** Names every key: a new one does not compile until its author decides what an untrusted file may do with it. */
export const strictness: Readonly<Record<string, Strictness>> = {
  schema_version: anything,
  // Defaults that a command may override, and how acode schedules its work: none of them limits a command.
  "execution.default_timeout_seconds": anything,
  "execution.max_concurrent": anything,
  "execution.max_queued": anything,
  "execution.kill_grace_seconds": anything,
  "execution.max_output_kb": smaller,
  // Stored output is evidence.
  "execution.artifact_max_mb": trustedOnly,
  "execution.output_ceiling_mb": smaller,
  "execution.use_shell": { kind: "ranks", ranks: [[true], [false]] },
  "execution.sandbox": {
    kind: "ranks",
    ranks: [["none"], ["reduced"], ["auto"], ["native", "perl", "bwrap", "container"]],
  },
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
  // A pattern of an untrusted project could hide from the user what a command does.
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
  "planner.explore_turns_max": smaller,
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
  // A server of this machine may offer models that run elsewhere, and the name selects one of them.
  "model.name": trustedOnly,
  "model.endpoint": trustedOnly,
  "model.timeout_seconds": smaller,
  "model.connect_timeout_seconds": smaller,
  "model.first_token_timeout_seconds": smaller,
  "model.token_timeout_seconds": smaller,
  "model.retry_count": smaller,
  // It keeps memory of the user's own server occupied.
  "model.keep_alive": trustedOnly,
  "model.streaming": anything,
  "model.edit_format": anything,
  "model.parameters.temperature": anything,
  "model.parameters.top_p": anything,
  // They describe the model; --max-tokens and the consent to a mode limit what a whole session may use.
  "model.parameters.max_tokens": anything,
  "model.parameters.context_window": anything,
  // acode reports the cost of a session from them.
  "model.prices.input": trustedOnly,
  "model.prices.output": trustedOnly,
  "models.planner": trustedOnly,
  "models.executor": trustedOnly,
  "models.verifier": trustedOnly,
  "models.reviewer": trustedOnly,
  "models.tiers.opus": trustedOnly,
  "models.tiers.sonnet": trustedOnly,
  "models.tiers.haiku": trustedOnly,
  // A small limit removes the means of undo, and a large one fills the disk.
  "checkpoints.max_file_mb": trustedOnly,
  "checkpoints.max_total_mb": trustedOnly,
  "checkpoints.max_ignored_entries": trustedOnly,
  "checkpoints.undo_days": trustedOnly,
  "storage.max_total_mb": trustedOnly,
  "storage.quarantine_days": trustedOnly,
  "code.enabled": { kind: "ranks", ranks: [[true], [false]] },
  "code.max_file_kb": smaller,
  "code.exclude": anything,
  "code.check_timeout_seconds": smaller,
  // They name programs that are run.
  "code.checkers": trustedOnly,
  // Paths inside the workspace, and text for tasks: the project itself decides about them.
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

/** The dotted names of all keys, without sections. */
type ConfigKeyName = KeysOf<typeof defaultConfig>
type KeysOf<Section> = {
  [Key in keyof Section & string]: Section[Key] extends Leaf ? Key : `${Key}.${KeysOf<Section[Key]>}`
}[keyof Section & string]
type Leaf = string | number | boolean | null | readonly unknown[]
