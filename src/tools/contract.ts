import type * as z from "zod/mini"
import type { Json } from "../base/canonical.ts"
import type { CheckerSettings, CodeChecks, SpliceSymbol } from "../code/contract.ts"
import type { ReferenceRow, SymbolRow } from "../domain/code/symbol.ts"
import type { NetworkChoice, SandboxChoice } from "../domain/command.ts"
import type { CorrelationIds } from "../domain/command-result.ts"
import type { Effect } from "../domain/effect.ts"
import type { ToolTraits } from "../domain/plan/tool-traits.ts"
import type { CallError, Diagnostic, FileChange } from "../domain/tool-call.ts"
import type { CommandRunner } from "../exec/contract.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { TextChanges } from "../workspace/change/contract.ts"
import type { Workspace } from "../workspace/contract.ts"

/** The dependencies of tools, constructed in `app/wiring/wire`. A tool never decides whether it is allowed to run. */
export interface ToolDeps {
  readonly workspace: Workspace
  readonly changes: TextChanges
  readonly redactor: Redactor
  readonly runner: CommandRunner
  /** Splits a command line without a shell; throws ACODE-EXE-007 for syntax that only a shell can run. */
  readonly splitCommand: (line: string) => readonly string[]
  /** Reports whether commands run in a sandbox here. */
  readonly hasSandbox: boolean
  /** The sandbox of commands; it confines no less than the decision assumed. */
  readonly sandbox: SandboxChoice
  /** The hosts that the approved plan lets commands of this call reach. */
  readonly grantedHosts: readonly string[]
  /** Returns the reason why configuration refuses a host to every command, or null. */
  readonly hostRefusal: (host: string) => string | null
  readonly skills: SkillReader
  readonly code: CodeQuestions
  readonly splice: SpliceSymbol
  readonly checks: CheckDeps
  readonly limits: ToolLimits
}

/**
 * Answers questions about the code of the workspace from the index, which is updated first. Throws a Failure: E103 for
 * a missing index that cannot be made, ACODE-CODE-003 while another process makes it, ACODE-CODE-001 for a file without
 * symbols.
 */
export interface CodeQuestions {
  symbolsInFile(path: string): Promise<CodeAnswer<SymbolRow>>
  /** Returns the places of a name, or of `Container.name`; in one file alone where one is given. */
  references(name: string, from: string | null): Promise<CodeAnswer<ReferenceRow>>
  /** Returns the symbols of a name, or of `Container.name`; those of one file are read from the file itself. */
  symbolsNamed(name: string, from: string | null): Promise<CodeAnswer<SymbolRow>>
}

/** The dependencies of a check: the checkers, what configuration says about them, and how long one may run. */
export interface CheckDeps {
  readonly checkers: CodeChecks
  readonly settings: CheckerSettings
  readonly timeoutMs: number
}

/** An answer is stale where files changed that could not be parsed in time. */
export interface Staleness {
  readonly stale: boolean
  readonly missingFiles: number
}

export interface CodeAnswer<Row> extends Staleness {
  readonly rows: readonly Row[]
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
  /** The longest text of one result that is shown; the rest stays in the artifact of the result. */
  readonly viewBytesMax: number
  /** The largest file that is read to be changed. */
  readonly editBytesMax: number
  readonly matchesMax: number
  readonly entriesMax: number
  readonly searchTimeoutMs: number
  readonly commandTimeoutMs: number
}

/** A capability with a name. Each has a file of its own, which declares everything that is known about the tool. */
export interface Tool extends ToolTraits {
  readonly name: string
  /** Describes to a model what the tool does and when to use it. */
  readonly description: string
  /** Set where a plan cannot have the tool as a step, because only a model can use what the tool returns. */
  readonly isForModelsOnly?: true
  /** Returns the strict schema of the arguments, which is built on the first call. */
  readonly schema: () => z.ZodMiniType
  /** The names of required arguments, so that a missing argument and a wrong one get different messages. */
  readonly required: readonly string[]
  /**
   * Returns what a call with these arguments, which fit the schema, would touch. Resolves paths and reads nothing
   * but a file that lists what the call touches. Throws a Failure for a path that resolves to a place where it may
   * not be.
   */
  declare(args: Json, deps: ToolDeps): DeclaredCall
}

export interface DeclaredCall {
  /** The effects on paths both as typed and as resolved; policy decides on all of them. */
  readonly effects: readonly Effect[]
  /**
   * Says what a crash during the call would mean. A command that reaches the network or is not confined is `once`.
   */
  readonly effectClass: "read" | "replace" | "run"
  /** The network of a command; null for any other call. */
  readonly network: NetworkChoice | null
  /** The hosts of the network `hosts`; left out for any other network. */
  readonly hosts?: readonly string[]
  /** One line for users, such as `write src/a.ts`. */
  readonly operation: string
  /**
   * Computes the change from the present state, without making it. The gate calls it again after time has passed,
   * such as the time of a question. Throws a Failure when the change cannot be made.
   */
  prepare(): Promise<PreparedCall>
}

export interface PreparedCall {
  /** Every file that will be replaced or removed, with its hashes before and after. Empty for reads and commands. */
  readonly targets: readonly FileChange[]
  /** Everything besides the targets that an approval is bound to. */
  readonly subject: {
    readonly argv: readonly string[]
    readonly cwd: string
    readonly environment: Readonly<Record<string, string>>
    /** The part of the network that a command reaches; left out where it reaches none. */
    readonly network?: readonly string[]
  }
  /** The change with line numbers, or the command, for the record. Redacted where a cut could split a secret. */
  readonly preview: string
  /** The unredacted preview for the user who is asked; left out where it equals `preview`. */
  readonly whole?: string
  /**
   * Makes the change or runs the command. Throws a Failure, or any other error for a bug; the result may carry an
   * `error`.
   */
  execute(context: CallContext): Promise<ToolResult>
}

export interface CallContext {
  readonly signal: AbortSignal | null
  /** The paths, relative to the root, that always need consent and that this call may write. */
  readonly consented: readonly string[]
  readonly correlationIds: Partial<CorrelationIds>
  /** Receives the output of a command as it arrives. */
  readonly onOutput: ((stream: "stdout" | "stderr", chunk: Uint8Array) => void) | null
}

/** The result of a tool. It depends on no clock and no random value, so that two runs can be compared. */
export interface ToolResult {
  readonly value: Json
  /** The value as text for a model, bounded in length. */
  readonly text: string
  /** Set when the tool ran and did not reach its goal: a command that failed, a deadline that passed. */
  readonly error: CallError | null
  readonly exitCode: number | null
  readonly executionId: string | null
  /** Every path that was read or changed, resolved. */
  readonly paths: readonly string[]
  readonly changes: readonly FileChange[]
  readonly diagnostics: readonly Diagnostic[]
}
