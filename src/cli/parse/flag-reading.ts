import { unreachable } from "../../base/assert.ts"
import { nearest, oneLine, printable } from "../../base/text.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { Failure } from "../../domain/failure.ts"
import type { DurationFlag, FlagSpec, FlagSpecs, NumberFlag } from "./flags.ts"
import { durationHint, durationOf, instantText, isInstant } from "./instant.ts"

export type Values = Record<string, unknown>

/** Reads flags up to the first argument that is not a flag. Leaves `--` unread. */
export function readFlags(reader: WordReader, specs: FlagSpecs, into: Values): void {
  while (!reader.isDone()) {
    const next = reader.peek()
    if (next === "--" || next === "-" || !next.startsWith("-")) return
    reader.take()
    const [name, inline] = splitFlag(next, specs)
    const spec = specs[name]
    if (spec === undefined) throw unknownFlag(next, specs)
    into[name] = flagValue(spec, `--${name}`, inline, reader, into[name])
  }
}

function splitFlag(written: string, specs: FlagSpecs): [string, string | null] {
  if (!written.startsWith("--")) {
    const letter = written.slice(1, 2)
    const entry = Object.entries(specs).find(([, spec]) => "short" in spec && spec.short === letter)
    if (entry === undefined) return [written, null]
    const attached = written.slice(2)
    if (attached !== "" && entry[1].kind === "boolean") return [written, null]
    return [entry[0], attached === "" ? null : attached]
  }
  const equals = written.indexOf("=")
  return equals === -1 ? [written.slice(2), null] : [written.slice(2, equals), written.slice(equals + 1)]
}

function flagValue(
  spec: FlagSpec,
  flag: string,
  inline: string | null,
  reader: WordReader,
  before: unknown,
): unknown {
  switch (spec.kind) {
    case "boolean":
      if (inline !== null) throw malformed(flag, "takes no value")
      return true
    case "optional":
      return inline ?? true
    case "text":
    case "id":
      return takeValue(flag, inline, reader)
    case "list":
      return [...(Array.isArray(before) ? before : []), takeValue(flag, inline, reader)]
    case "number":
      return numberOf(spec, flag, takeValue(flag, inline, reader))
    case "duration":
      return durationIn(spec, flag, takeValue(flag, inline, reader))
    case "time": {
      const text = takeValue(flag, inline, reader)
      if (!isInstant(text)) throw malformed(flag, `takes ${instantText}, not "${shown(text)}"`)
      return text
    }
    case "choice": {
      const text = takeValue(flag, inline, reader)
      if (!spec.choices.includes(text))
        throw malformed(flag, `"${printable(text)}" is not one of ${spec.choices.join(", ")}`)
      return text
    }
    default:
      return unreachable(spec)
  }
}

/** Parses plain digits: JavaScript also accepts `1e3`, `0x10` and `Infinity`, which are typing errors here. */
function numberOf({ min, max, isWhole, value, code }: NumberFlag, flag: string, typed: string): number {
  const isPlain = isWhole ? /^\d{1,15}$/.test(typed) : /^(?:\d{1,15}(?:\.\d{0,9})?|\.\d{1,9})$/.test(typed)
  const number = Number(typed)
  if (isPlain && number >= min && number <= max) return number
  const what = value === "N" ? "" : ` of ${value === "MB" ? value : value.toLowerCase()}`
  const why = `takes a ${isWhole ? "whole " : ""}number${what} from ${min} to ${max}, not "${shown(typed)}"`
  const { report } = malformed(flag, why)
  if (typed.trim() === "" || !Number.isFinite(number)) throw new Failure(report)
  throw new OutOfRange({ ...report, code: code ?? report.code })
}

/** A number out of the flag's range. It belongs to this flag and is not an argument of another program. */
export class OutOfRange extends Failure {}

function durationIn({ minMs, maxMs }: DurationFlag, flag: string, typed: string): number {
  const ms = durationOf(typed)
  if (ms === null) throw malformed(flag, `takes ${durationHint}, not "${shown(typed)}"`)
  if (ms >= minMs && ms <= maxMs) return ms
  throw malformed(
    flag,
    `takes a duration from ${minMs / 1000}s to ${maxMs / 86_400_000}d, not ${shown(typed)}`,
  )
}

function shown(typed: string): string {
  return oneLine(typed, 80)
}

function takeValue(flag: string, inline: string | null, reader: WordReader): string {
  if (inline !== null) return inline
  if (reader.isDone()) throw malformed(flag, "needs a value")
  return reader.take()
}

/** Flags of other agent programs, and why acode does not have them. */
const refusedFlags: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  "--disable-path-validation": [
    "--disable-path-validation does not exist: paths are always checked",
    "work in the directory that is meant: -C DIR",
  ],
  ...Object.fromEntries(
    ["--max-history-messages", "--token-allocation"].map(name => [
      name,
      [`${name} has no effect yet: it comes with token budgets`, "leave it out"],
    ]),
  ),
}

function unknownFlag(written: string, specs: FlagSpecs): Failure {
  const name = written.split("=")[0] ?? written
  const refused = refusedFlags[name]
  if (refused !== undefined) return usageFailure("ACODE-CLI-002", ...refused)
  const meant = nearest(
    name,
    Object.keys(specs).map(candidate => `--${candidate}`),
  )
  return usageFailure(
    "ACODE-CLI-002",
    `there is no flag ${printable(name)}`,
    meant === null ? "`--help` lists the flags" : `did you mean ${meant}?`,
  )
}

function malformed(flag: string, why: string): Failure {
  return usageFailure("ACODE-CLI-002", `${flag} ${why}`, "`--help` shows what it takes")
}

export function usageFailure(
  code: ErrorCode,
  message: string,
  hint = "`--help` shows the accepted form",
): Failure {
  return new Failure({ kind: "usage", code, message, hint })
}

/** Reads the arguments of a command line one by one. */
export class WordReader {
  private index = 0
  constructor(private readonly words: readonly string[]) {}

  isDone(): boolean {
    return this.index >= this.words.length
  }

  peek(): string {
    return this.words[this.index] ?? ""
  }

  take(): string {
    const word = this.peek()
    this.index += 1
    return word
  }

  takeRest(): string[] {
    const rest = this.words.slice(this.index)
    this.index = this.words.length
    return rest
  }
}
