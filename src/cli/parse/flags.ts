import type { RecordedKind } from "../../app/recorded-id.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import type { ObservedTime } from "../../store/upkeep/contract.ts"
import type { Output } from "../output.ts"
import { durationText } from "../render/format.ts"

/** A flag as data: parsing, help and documentation read the same table. */
export type FlagSpec =
  | { readonly kind: "boolean"; readonly summary: string; readonly short?: string }
  | { readonly kind: "text"; readonly value: string; readonly summary: string; readonly short?: string }
  | NumberFlag
  | DurationFlag
  /** A point in time, or a duration back from now; checked when parsed and passed as typed to `instantOf`. */
  | { readonly kind: "time"; readonly value: "TIME"; readonly summary: string }
  /** A whole id, its beginning or its end, as typed: `idOf` of the service finds the one it names. */
  | { readonly kind: "id"; readonly of: RecordedKind; readonly value: "ID"; readonly summary: string }
  | { readonly kind: "choice"; readonly choices: readonly string[]; readonly summary: string }
  /** A flag that may be repeated. */
  | { readonly kind: "list"; readonly value: string; readonly summary: string }
  /** A flag that may stand alone or with `=value`. */
  | { readonly kind: "optional"; readonly value: string; readonly summary: string }

/** A number in plain digits, between two inclusive bounds. */
export interface NumberFlag {
  readonly kind: "number"
  readonly value: string
  readonly summary: string
  readonly min: number
  readonly max: number
  /** True to refuse fractions. */
  readonly isWhole: boolean
  /** The error code of a number out of range, if it is not the general one. */
  readonly code?: ErrorCode
}

/** A duration such as `90s`, `30m`, `1h`, `7d`, `2w`; parsed to milliseconds. */
export interface DurationFlag {
  readonly kind: "duration"
  readonly value: string
  readonly summary: string
  readonly minMs: number
  readonly maxMs: number
}

/** Returns the flag that bounds how much a listing shows. */
export function limitFlag(summary: string) {
  return { kind: "number", value: "N", summary, min: 1, max: 1_000_000_000, isWhole: true } as const
}

/** The flags that limit a listing to a period. */
export const timeFlags = {
  since: {
    kind: "time",
    value: "TIME",
    summary: "from this time on: 2026-01-15T00:00:00Z, 2026-01-15 or 2h",
  },
  until: { kind: "time", value: "TIME", summary: "before this time" },
} as const satisfies FlagSpecs

export type FlagSpecs = Readonly<Record<string, FlagSpec>>

export type FlagValue<Spec extends FlagSpec> = Spec extends { kind: "boolean" }
  ? boolean
  : Spec extends { kind: "text" | "time" | "id" }
    ? string | undefined
    : Spec extends { kind: "number" | "duration" }
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
  "allow-broad-workspace": {
    kind: "boolean",
    summary: "allow a home directory or a system directory as the workspace",
  },
  config: { kind: "text", value: "FILE", summary: "use FILE instead of .agent/config.yml" },
  json: { kind: "boolean", summary: "print JSON on stdout, everything else on stderr" },
  quiet: { kind: "boolean", short: "q", summary: "print no notices" },
  verbose: { kind: "boolean", short: "v", summary: "print more details" },
  "no-color": { kind: "boolean", summary: "disable colour; the variable NO_COLOR does the same" },
  yes: {
    kind: "optional",
    value: "SCOPES",
    summary: "approve requests of these scopes; only the scope network covers network access",
  },
  "ack-danger": { kind: "boolean", summary: "needed with --yes=all" },
  "non-interactive": {
    kind: "boolean",
    summary: "never ask; the default without a terminal and when CI is set",
  },
} as const satisfies FlagSpecs

export type GlobalFlags = FlagValues<typeof globalFlags>

/** The flag of verbs that remove by age. */
export const trustClockFlag = {
  kind: "boolean",
  summary: "trust the clock of this machine, even if it jumped ahead since acode last ran",
} as const

export const ageFlag = {
  kind: "duration",
  value: "AGE",
  summary: "such as 30d; the default is the configured retention",
  minMs: 0,
  maxMs: 36_525 * 86_400_000,
} as const

const dayMs = 24 * 3_600_000

/** Prints the time from which ages are counted, when it differs from the clock. */
export function reportDistrust(output: Output, { nowMs, aheadMs }: ObservedTime): void {
  if (aheadMs < dayMs) return
  const ahead = aheadMs < 2 * dayMs ? durationText(aheadMs) : `${Math.floor(aheadMs / dayMs)} days`
  output.notice(
    `the clock is ${ahead} ahead of the time acode saw pass here; ages were counted from ${new Date(nowMs).toISOString().slice(0, 10)}\n` +
      "  → if the date is right, give --trust-clock; a day from now it counts by itself",
  )
}
