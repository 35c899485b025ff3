import type { ConfigFiles, LoadedConfig } from "../config/config.ts"
import type { Command, ExecutionOptions } from "../domain/command.ts"
import type { ExecutionRecord } from "../domain/command-result.ts"
import type { Failure, FailureReport } from "../domain/failure.ts"
import type { ExecutionContext } from "../exec/contract.ts"
import type { AuditReport } from "../store/contract.ts"
import type { SkillVerbs } from "./skills/skill-verbs.ts"
import type { TaskVerbs } from "./skills/task-verbs.ts"
import type { AgentVerbs } from "./verbs/agent.ts"
import type { CodeVerbs } from "./verbs/code.ts"
import type { DoctorFinding } from "./verbs/diagnosis.ts"
import type { HistoryVerbs } from "./verbs/history.ts"
import type { ModelVerbs } from "./verbs/models.ts"
import type { PlanVerbs } from "./verbs/plans.ts"
import type { PolicyAnswer, PolicyQuestion } from "./verbs/policy-questions.ts"
import type { RestoreVerbs } from "./verbs/restore.ts"
import type { StorageVerbs } from "./verbs/storage.ts"
import type { WorkspaceVerbs } from "./verbs/workspaces.ts"

/** The verbs a surface may call. It never touches the terminal, so another surface can call the same ones. */
export interface AppService
  extends HistoryVerbs,
    PlanVerbs,
    RestoreVerbs,
    AgentVerbs,
    ModelVerbs,
    SkillVerbs,
    TaskVerbs,
    StorageVerbs,
    WorkspaceVerbs,
    CodeVerbs {
  readonly workspaceRoot: string
  config(): Promise<LoadedConfig>
  /** Returns the configuration files, also when their contents are not valid. */
  configFiles(): ConfigFiles
  /** Converts typed arguments to a command: a single string is split without a shell, several are used as they are. */
  commandOf(words: readonly string[], form: CommandForm): Promise<Command>
  execute(command: Command, options: ExecutionOptions, context: ExecutionContext): Promise<ExecutionRecord>
  /** Returns the content of an artifact. Throws ACODE-SEC-004 when it is missing or does not match its hash. */
  artifact(ref: string): Promise<Uint8Array>
  /** Returns artifacts that the history names, that the output needed, and that are missing on the disk. */
  missingArtifacts(): readonly string[]
  /** Returns the problems of records that do not match the signed events and were shown or skipped nevertheless. */
  changedRecords(): readonly FailureReport[]
  /** Returns the failure behind an unexpected error when the history is damaged; null when it is intact: a bug. */
  explained(error: unknown): Promise<Failure | null>
  /** Returns how long executions are kept by default. */
  retentionMs(): Promise<number>
  now(): number
  audit(stream: string | null): Promise<AuditReport>
  diagnose(): Promise<readonly DoctorFinding[]>
  /** Returns what policy would decide, without running or recording anything. */
  askPolicy(question: PolicyQuestion): Promise<PolicyAnswer>
  trustConfig(): Promise<TrustedFile>
  setConfig(key: string, value: string): Promise<string>
  close(): Promise<void>
}

export interface CommandForm {
  readonly isLiteral: boolean
  readonly useShell: boolean | undefined
  readonly cwd: string | undefined
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMs: number | undefined
  readonly memoryBytesMax: number | undefined
}

export interface TrustedFile {
  readonly path: string
  readonly hash: string
}
