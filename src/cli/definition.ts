import type { RecordedKind } from "../app/recorded-id.ts"
import type { CliContext } from "./context.ts"
import type { FlagSpecs, FlagValues } from "./parse/flags.ts"

export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  readonly optional?: boolean
  readonly variadic?: boolean
  /** Set for an argument that is an id of this kind, whole or an unambiguous part. */
  readonly id?: RecordedKind
}

export interface Example {
  readonly line: string
  readonly note: string
}

/** A verb of the program. `run` returns the exit code; `main` prints a Failure that it throws. */
export interface CliCommand<Specs extends FlagSpecs = FlagSpecs> {
  /** The name as it is typed: `runs list`. */
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly arguments: readonly ArgumentSpec[]
  readonly flags: Specs
  readonly examples: readonly Example[]
  /** True when the rest of the line belongs to another program (`exec`). */
  readonly passthrough?: boolean
  /** The exit code of usage errors, if it is not 2. */
  readonly usageExitCode?: number
  run(input: CliInput<Specs>, context: CliContext): Promise<number>
}

export interface CliInput<Specs extends FlagSpecs = FlagSpecs> {
  readonly arguments: readonly string[]
  /** True when the arguments follow `--` and are taken literally. */
  readonly isLiteral: boolean
  readonly flags: FlagValues<Specs>
}

/** Keeps the literal types of the flags, so that `run` sees a choice as its choices and not as a string. */
export function defineCommand<const Specs extends FlagSpecs>(command: CliCommand<Specs>): CliCommand {
  // The table holds commands of many shapes; the parser builds exactly the values `flags` declares.
  return command as unknown as CliCommand
}
