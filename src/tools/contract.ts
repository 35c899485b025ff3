import type * as z from "zod/mini"
import type { Json } from "../base/canonical.ts"
import type { NetworkChoice, SandboxChoice } from "../domain/command.ts"
import type { CorrelationIds } from "../domain/command-result.ts"
import type { Effect } from "../domain/effect.ts"
import type { ToolTraits } from "../domain/plan/tool-traits.ts"
import type { CallError, Diagnostic, FileChange } from "../domain/tool-call.ts"
import type { CommandRunner } from "../exec/contract.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { TextChanges } from "../workspace/change/contract.ts"
import type { Workspace } from "../workspace/contract.ts"

/** What tools are made of; `app/wiring/wire` puts it together. A tool never decides whether it may. */
export interface ToolRoom {
  readonly workspace: Workspace
  readonly changes: TextChanges
  readonly redactor: Redactor
  readonly runner: CommandRunner
  /** Splits a command given as one string without a shell; throws ACODE-EXE-007 for what only a shell could do. */
  readonly splitCommand: (line: string) => readonly string[]
  /** Whether commands are confined here. */
  readonly hasSandbox: boolean
  /** What they run in: never less than what was decided on. */
  readonly sandbox: SandboxChoice
  /** The hosts that the approved plan lets commands of this call reach. */
  readonly grantedHosts: readonly string[]
  /** Why configuration refuses a host to every command; null where it does not. */
  readonly hostRefusal: (host: string) => string | null
  readonly skills: SkillReader
  readonly limits: ToolLimits
}

/** Reads the skills of this workspace and of this user. */
export interface SkillReader {
  /** Returns where a file of a skill lies below the workspace root; null for a skill elsewhere, or for none. */
  workspaceFileOf(name: string, reference: string | null): string | null
  /** Returns the body of a skill, or one reference of it. Throws a Failure (ACODE-SKILL-001). */
  read(name: string, reference: string | null): SkillText
}

export interface SkillText {
  readonly text: string
  /** The paths of all references of the skill. */
  readonly references: readonly string[]
}

export interface ToolLimits {
  /** Text of one result as it is shown; the rest stays in the artifact of the result. */
  readonly viewBytesMax: number
  /** A file that is read to be changed. */
  readonly editBytesMax: number
  readonly matchesMax: number
  readonly entriesMax: number
  readonly searchTimeoutMs: number
  readonly commandTimeoutMs: number
}

/** A capability with a name. Each has a file of its own, which declares everything that is known about the tool. */
export interface Tool extends ToolTraits {
  readonly name: string
  /** For a model: what it does and when to use it. */
  readonly description: string
  /** A plan cannot have it as a step, because only a model can use what it returns. */
  readonly isForModelsOnly?: true
  /** The arguments, strictly; built when first asked for. */
  readonly schema: () => z.ZodMiniType
  /** Argument names that are required, so that a missing one can be told from a wrong one. */
  readonly required: readonly string[]
  /**
   * Says what a call with these arguments, which fit the schema, would touch. Looks where paths lead and reads nothing
   * else. Throws a Failure for a path that leads nowhere it may.
   */
  declare(args: Json, room: ToolRoom): DeclaredCall
}

export interface DeclaredCall {
  /** Of paths both as typed and as they resolve; policy decides on all of them. */
  readonly effects: readonly Effect[]
  /** What a crash in the middle would mean. A command that reaches the network or is not confined is `once`. */
  readonly effectClass: "read" | "replace" | "run"
  /** Null but for commands. */
  readonly network: NetworkChoice | null
  /** With the network `hosts`, which; else none. */
  readonly hosts?: readonly string[]
  /** One line for people: `write src/a.ts`. */
  readonly operation: string
  /**
   * Looks at the present state and computes the change, without making it. Called again when time has passed, such as
   * while a person was asked. Throws a Failure when the change cannot be made.
   */
  prepare(): Promise<PreparedCall>
}

export interface PreparedCall {
  /** Every file that will be replaced or removed, with its content before and after. Empty for reads and commands. */
  readonly targets: readonly FileChange[]
  /** What an approval binds besides the targets. */
  readonly subject: {
    readonly argv: readonly string[]
    readonly cwd: string
    readonly environment: Readonly<Record<string, string>>
    /** What of the network a command reaches; left out where that is nothing. */
    readonly network?: readonly string[]
  }
  /** The change with line numbers, or the command, for the record. Redacted where a cut could split a secret. */
  readonly preview: string
  /** The same for the person who is asked, with nothing taken out; left out where the preview is that. */
  readonly whole?: string
  /** Does it. Throws a Failure, or whatever a bug throws; what it returns may still carry an `error`. */
  execute(context: CallContext): Promise<ToolResult>
}

export interface CallContext {
  readonly signal: AbortSignal | null
  /** Paths that are always asked about and that this call may write, relative to the root. */
  readonly consented: readonly string[]
  readonly correlationIds: Partial<CorrelationIds>
  /** Sees a command's output as it comes. */
  readonly onOutput: ((stream: "stdout" | "stderr", chunk: Uint8Array) => void) | null
}

/** What a tool gives back. Nothing in it depends on time or chance, so that two runs can be compared. */
export interface ToolResult {
  readonly value: Json
  /** The same for a model, bounded. */
  readonly text: string
  /** Set when the tool ran and did not do what it was for: a command that failed, a deadline that passed. */
  readonly error: CallError | null
  readonly exitCode: number | null
  readonly executionId: string | null
  /** Every path that was looked at or changed, resolved. */
  readonly paths: readonly string[]
  readonly changes: readonly FileChange[]
  readonly diagnostics: readonly Diagnostic[]
}
