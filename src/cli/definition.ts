import type { RecordedKind } from "../app/recorded-id.ts"
import type { CliContext } from "./context.ts"
import type { FlagSpecs, FlagValues } from "./parse/flags.ts"

export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  readonly optional?: boolean
  readonly variadic?: boolean
  /** It is an id of this kind, or a part of one that names no other. */
  readonly id?: RecordedKind
}

export interface Example {
  readonly line: string
  readonly note: string
}

/** A verb of the program. `run` gives the exit code; a Failure it throws is printed and mapped in one place. */
export interface CliCommand<Specs extends FlagSpecs = FlagSpecs> {
  /** The words that name it: `runs list`. */
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly arguments: readonly ArgumentSpec[]
  readonly flags: Specs
  readonly examples: readonly Example[]
  /** The rest of the line belongs to another program (`exec`). */
  readonly passthrough?: boolean
  /** The exit code of usage errors where it is not 2. */
  readonly usageExitCode?: number
  run(input: CliInput<Specs>, context: CliContext): Promise<number>
}

export interface CliInput<Specs extends FlagSpecs = FlagSpecs> {
  readonly arguments: readonly string[]
  /** The arguments stood behind `--`: they are meant to the letter. */
  readonly isLiteral: boolean
  readonly flags: FlagValues<Specs>
}

/** Keeps the literal types of the flags, so that `run` sees a choice as its choices and not as a string. */
export function defineCommand<const Specs extends FlagSpecs>(command: CliCommand<Specs>): CliCommand {
  // The table holds commands of many shapes; the parser builds exactly the values `flags` declares.
  return command as unknown as CliCommand
}
