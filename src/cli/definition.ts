import type { CliContext } from "./context.ts"

/** A flag as data: parsing, help, documentation and completion all read the same table. */
export type FlagSpec =
  | { readonly kind: "boolean"; readonly summary: string; readonly short?: string }
  | { readonly kind: "text"; readonly value: string; readonly summary: string; readonly short?: string }
  | { readonly kind: "number"; readonly value: string; readonly summary: string }
  | { readonly kind: "choice"; readonly choices: readonly string[]; readonly summary: string }
  /** May be given many times. */
  | { readonly kind: "list"; readonly value: string; readonly summary: string }
  /** May stand alone or with `=value`. */
  | { readonly kind: "optional"; readonly value: string; readonly summary: string }

export type FlagSpecs = Readonly<Record<string, FlagSpec>>

export type FlagValue<Spec extends FlagSpec> = Spec extends { kind: "boolean" }
  ? boolean
  : Spec extends { kind: "text" }
    ? string | undefined
    : Spec extends { kind: "number" }
      ? number | undefined
      : Spec extends { kind: "choice"; choices: readonly (infer Choice)[] }
        ? Choice | undefined
        : Spec extends { kind: "optional" }
          ? string | true | undefined
          : readonly string[]

export type FlagValues<Specs extends FlagSpecs> = { readonly [Name in keyof Specs]: FlagValue<Specs[Name]> }

export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  readonly optional?: boolean
  readonly variadic?: boolean
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

export const globalFlags = {
  help: { kind: "boolean", short: "h", summary: "show help for a command" },
  version: { kind: "boolean", summary: "show the version" },
  workspace: {
    kind: "text",
    short: "C",
    value: "DIR",
    summary: "work in DIR instead of the workspace found here",
  },
  config: { kind: "text", value: "FILE", summary: "use FILE instead of .agent/config.yml" },
  json: { kind: "boolean", summary: "print JSON on stdout, everything else on stderr" },
  quiet: { kind: "boolean", short: "q", summary: "no notices" },
  verbose: { kind: "boolean", short: "v", summary: "say more" },
  "no-color": { kind: "boolean", summary: "no colour, also when NO_COLOR is set" },
  yes: { kind: "optional", value: "SCOPES", summary: "answer approvals of these scopes with yes" },
  "ack-danger": { kind: "boolean", summary: "needed with --yes=all" },
  "non-interactive": { kind: "boolean", summary: "never ask; also without a terminal and when CI is set" },
} as const satisfies FlagSpecs

export type GlobalFlags = FlagValues<typeof globalFlags>
