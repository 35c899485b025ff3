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
  /** Also when what they say is not valid. */
  configFiles(): ConfigFiles
  /** Turns what a person typed into a command: one string is split without a shell, words are taken as they are. */
  commandOf(words: readonly string[], form: CommandForm): Promise<Command>
  execute(command: Command, options: ExecutionOptions, context: ExecutionContext): Promise<ExecutionRecord>
  /** Throws ACODE-SEC-004 when it is not there, or not what its name says. */
  artifact(ref: string): Promise<Uint8Array>
  /** Artifacts that were needed for what was shown, that the history names and that are not there. */
  missingArtifacts(): readonly string[]
  /** What was shown or passed over although it does not match the signed events. */
  changedRecords(): readonly FailureReport[]
  /** Returns what an unexpected error means when the history is damaged; null when it is whole: then it is a bug. */
  explained(error: unknown): Promise<Failure | null>
  /** How long executions are kept when nobody says. */
  retentionMs(): Promise<number>
  now(): number
  audit(stream: string | null): Promise<AuditReport>
  diagnose(): Promise<readonly DoctorFinding[]>
  /** What policy would decide, without doing it and without recording anything. */
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
