import { join } from "node:path"
import type { ResourceLimits } from "../domain/command.ts"
import type { PipelineLimits } from "../domain/pipeline-settings.ts"
import type { ExecutionSettings } from "../exec/contract.ts"
import type { CategoryDefaults } from "../policy/decision.ts"
import type { CheckpointLimits } from "../workspace/checkpoint/contract.ts"
import type { Config } from "./schema.ts"

const KiB = 1024
const MiB = KiB * KiB
const dayMs = 24 * 3600 * 1000

/** Returns the `execution:` section in the units of the command runner. */
export function toExecutionSettings({ execution }: Config): ExecutionSettings {
  return {
    defaultTimeoutMs: Math.round(execution.default_timeout_seconds * 1000),
    outputBytesMax: execution.max_output_kb * KiB,
    artifactBytesMax: execution.artifact_max_mb * MiB,
    outputCeilingBytes: execution.output_ceiling_mb * MiB,
    useShell: execution.use_shell,
    concurrentMax: execution.max_concurrent,
    queuedMax: execution.max_queued,
    environmentMode: execution.environment.mode,
    environmentExclude: execution.environment.exclude_patterns,
    environmentInclude: execution.environment.include,
    sandbox: execution.sandbox,
    network: execution.network,
    killGraceMs: Math.round(execution.kill_grace_seconds * 1000),
  }
}

/** Returns the limits for a command that sets none of its own. */
export function toResourceLimits({ execution: { limits } }: Config): ResourceLimits {
  return {
    memoryBytesMax: limits.memory_mb === null ? null : limits.memory_mb * MiB,
    processesMax: limits.processes,
    cpuSecondsMax: limits.cpu_seconds,
    fileBytesMax: limits.file_mb === null ? null : limits.file_mb * MiB,
  }
}

export interface ConfinementSettings {
  readonly allowUnixSockets: boolean
  /** Absolute paths; `~/` is resolved. */
  readonly readablePaths: readonly string[]
}

export function toConfinementSettings({ execution }: Config, home: string): ConfinementSettings {
  return {
    allowUnixSockets: execution.unix_sockets === "allow",
    readablePaths: execution.readable_paths.map(path =>
      path.startsWith("~/") ? join(home, path.slice(2)) : path,
    ),
  }
}

export interface AuditSettings {
  readonly retentionMs: number
  readonly includeOutput: boolean
  /** The number of output bytes that the event itself holds. */
  readonly inlineOutputBytesMax: number
}

export function toAuditSettings({ execution: { audit } }: Config): AuditSettings {
  return {
    retentionMs: audit.retention_days * dayMs,
    includeOutput: audit.include_output,
    inlineOutputBytesMax: audit.max_output_bytes,
  }
}

export interface ApprovalSettings {
  readonly defaults: CategoryDefaults
  /** The treatment of a question that no user can answer: refuse it, or leave it open. */
  readonly nonInteractive: "deny" | "rest"
  /** The time that a question waits for an answer; null means no limit. */
  readonly timeoutMs: number | null
}

export function toApprovalSettings({ approvals }: Config): ApprovalSettings {
  return {
    defaults: {
      FILE_READ: approvals.file_read,
      FILE_WRITE: approvals.file_write,
      FILE_DELETE: approvals.file_delete,
      DIRECTORY_CREATE: approvals.directory_create,
      TERMINAL_COMMAND: approvals.terminal_commands,
      EXTERNAL_REQUEST: approvals.external_requests,
    },
    nonInteractive: approvals.non_interactive,
    timeoutMs: approvals.timeout_seconds === 0 ? null : approvals.timeout_seconds * 1000,
  }
}

/** Reports whether configuration refuses anything at all, by a rule or for a whole category. */
export function refusesAnything(config: Config): boolean {
  const policies = [
    ...config.rules.map(({ policy }) => policy),
    ...Object.values(toApprovalSettings(config).defaults),
  ]
  return policies.some(policy => policy === "deny" || policy === "skip")
}

export interface CheckpointSettings {
  readonly limits: CheckpointLimits
  /** The number of git-ignored files and directories that are watched while a command runs. */
  readonly ignoredEntriesMax: number
  /** The time after which a checkpoint may be removed. */
  readonly undoMs: number
}

export function toCheckpointSettings({ checkpoints }: Config): CheckpointSettings {
  return {
    limits: {
      fileBytesMax: checkpoints.max_file_mb * MiB,
      totalBytesMax: checkpoints.max_total_mb * MiB,
    },
    ignoredEntriesMax: checkpoints.max_ignored_entries,
    undoMs: checkpoints.undo_days * dayMs,
  }
}

export interface StorageSettings {
  /** The limit for all state of a workspace together. */
  readonly totalBytesMax: number
  readonly quarantineMs: number
}

export function toStorageSettings({ storage }: Config): StorageSettings {
  return { totalBytesMax: storage.max_total_mb * MiB, quarantineMs: storage.quarantine_days * dayMs }
}

/** The retry limit of the reviewer: a model that twice gave no valid answer gives none the third time either. */
const reviewerRetriesMax = 1

/** Returns the limits of a session that sets none of its own. */
export function toPipelineLimits({ orchestration, planner, executor, model }: Config): PipelineLimits {
  const retries = orchestration.stage_retry_limit
  return {
    cyclesMax: orchestration.cycle_limit,
    turnsMax: executor.max_turns_per_step,
    exploreTurnsMax: planner.explore_turns_max,
    stepRetriesMax: orchestration.step_retry_limit,
    modelRetriesMax: model.retry_count,
    stageRetriesMax: {
      planner: retries,
      executor: retries,
      verifier: retries,
      reviewer: Math.min(retries, reviewerRetriesMax),
    },
    stageTimeoutMs: {
      planner: millisecondsOf(orchestration.planner_timeout_seconds),
      executor: millisecondsOf(orchestration.executor_timeout_seconds),
      verifier: millisecondsOf(orchestration.verifier_timeout_seconds),
      reviewer: millisecondsOf(orchestration.reviewer_timeout_seconds),
    },
    stepTimeoutMs: Math.round(executor.step_timeout_seconds * 1000),
    contextTokensMax: null,
    tokensMax: null,
  }
}

function millisecondsOf(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1000)
}
