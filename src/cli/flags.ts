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
