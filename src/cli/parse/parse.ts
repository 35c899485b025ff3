import { nearest, printable } from "../../base/text.ts"
import { Failure, type FailureReport } from "../../domain/failure.ts"
import type { CliCommand, CliInput } from "../definition.ts"
import { OutOfRange, readFlags, usageFailure, type Values, WordReader } from "./flag-reading.ts"
import { type FlagSpecs, type GlobalFlags, globalFlags } from "./flags.ts"

/** A parsed command line: a command with its arguments and flags, or a request for help. */
export interface ParsedLine {
  readonly command: CliCommand | null
  readonly arguments: readonly string[]
  readonly isLiteral: boolean
  readonly flags: CliInput["flags"]
  readonly globals: GlobalFlags
  /** The incomplete name of a command, for help on a group like `runs`. */
  readonly group: string | null
}

/** A usage error of a known command, which may have its own exit code for it. */
export class UsageFailure extends Failure {
  constructor(
    report: FailureReport,
    readonly command: CliCommand,
  ) {
    super({ ...report, where: `acode ${command.name}` })
  }
}

/** Parses a command line. Throws ACODE-CLI-001…003 with a suggestion. */
export function parseLine(argv: readonly string[], commands: readonly CliCommand[]): ParsedLine {
  const globals = defaultsOf(globalFlags)
  const reader = new WordReader(argv)
  const words: string[] = []
  for (;;) {
    readFlags(reader, globalFlags, globals)
    if (reader.isDone()) return unfinished(words, globals)
    words.push(reader.take())
    const command = commands.find(candidate => candidate.name === words.join(" "))
    if (command !== undefined) return parseCommand(command, reader, globals)
    if (!commands.some(candidate => candidate.name.startsWith(`${words.join(" ")} `)))
      throw unknownCommand(words, commands)
  }
}

function unfinished(words: readonly string[], globals: Values): ParsedLine {
  const group = words.join(" ") || null
  return { command: null, arguments: [], isLiteral: false, flags: {}, globals: typed(globals), group }
}

function parseCommand(command: CliCommand, reader: WordReader, globals: Values): ParsedLine {
  const flags = defaultsOf(command.flags)
  const into = { ...globals, ...flags }
  const specs: FlagSpecs = { ...globalFlags, ...command.flags }
  const words: string[] = []
  let isLiteral: boolean
  try {
    isLiteral = command.passthrough
      ? readPassthrough(reader, specs, into, words, Object.keys(command.flags))
      : readWords(reader, specs, into, words)
  } catch (error) {
    throw error instanceof Failure ? new UsageFailure(error.report, command) : error
  }
  const result = {
    command,
    arguments: words,
    isLiteral,
    flags: declared(pick(into, Object.keys(command.flags))),
    globals: typed(pick(into, Object.keys(globalFlags))),
    group: null,
  }
  if (!result.globals.help && !result.globals.version) checkCount(command, words)
  return result
}

/** Reads flags and arguments. Returns whether `--` was among them. */
function readWords(reader: WordReader, specs: FlagSpecs, into: Values, words: string[]): boolean {
  for (;;) {
    readFlags(reader, specs, into)
    if (reader.isDone()) return false
    const word = reader.take()
    if (word === "--") {
      words.push(...reader.takeRest())
      return true
    }
    words.push(word)
  }
}

/**
 * Reads the line of a command that runs a program. Flags before the program are ours and everything after it belongs to
 * the program, with one exception: a single string may be followed by our flags (`exec "npm test" --timeout 60`). An
 * argument with a space is always such a string; one without only if nothing but flags of this command follows, so
 * `exec node --version` passes the flag to node.
 */
function readPassthrough(
  reader: WordReader,
  specs: FlagSpecs,
  into: Values,
  words: string[],
  own: readonly string[],
): boolean {
  readFlags(reader, specs, into)
  if (reader.isDone()) return false
  const first = reader.take()
  const rest = reader.takeRest()
  if (first === "--") {
    words.push(...rest)
    return true
  }
  words.push(first)
  if (rest.length === 0) return false
  if (/\s/.test(first) && rest[0]?.startsWith("-")) {
    const after = new WordReader(rest)
    readFlags(after, specs, into)
    if (!after.isDone()) throw surplus(after.take())
    return false
  }
  const trial = rest[0]?.startsWith("-") ? ownFlagsOnly(rest, specs, own) : null
  if (trial === null) words.push(...rest)
  else for (const [name, value] of Object.entries(trial)) into[name] = merged(into[name], value)
  return false
}

function ownFlagsOnly(rest: readonly string[], specs: FlagSpecs, own: readonly string[]): Values | null {
  const ownSpecs = Object.fromEntries(
    Object.entries(specs).filter(([name]) => own.includes(name) || name === "json" || name === "verbose"),
  )
  const values: Values = {}
  const reader = new WordReader(rest)
  try {
    readFlags(reader, ownSpecs, values)
  } catch (error) {
    if (error instanceof Failure && !(error instanceof OutOfRange)) return null
    throw error
  }
  return reader.isDone() ? values : null
}

function merged(before: unknown, after: unknown): unknown {
  return Array.isArray(before) && Array.isArray(after) ? [...before, ...after] : after
}

function defaultsOf(specs: FlagSpecs): Values {
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [
      name,
      spec.kind === "boolean" ? false : spec.kind === "list" ? [] : undefined,
    ]),
  )
}

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map(name => [name, values[name]]))
}

function declared(values: Values): CliInput["flags"] {
  // The parser writes exactly what the flag tables declare.
  return values as CliInput["flags"]
}

function typed(values: Values): GlobalFlags {
  // As above.
  return values as unknown as GlobalFlags
}

function checkCount(command: CliCommand, words: readonly string[]): void {
  const needed = command.arguments.filter(argument => !argument.optional)
  const missing = needed[words.length]
  if (missing !== undefined)
    throw new UsageFailure(
      usageFailure("ACODE-CLI-003", `${command.name} needs ${missing.name}: ${missing.summary}`).report,
      command,
    )
  const open = command.passthrough || command.arguments.some(argument => argument.variadic)
  const extra = words[command.arguments.length]
  if (!open && extra !== undefined) throw new UsageFailure(surplus(extra).report, command)
}

function unknownCommand(words: readonly string[], commands: readonly CliCommand[]): Failure {
  const typedName = words.join(" ")
  const depth = words.length
  const names = [...new Set(commands.map(command => command.name.split(" ").slice(0, depth).join(" ")))]
  const meant = nearest(typedName, names)
  return usageFailure(
    "ACODE-CLI-001",
    `there is no command "${printable(typedName)}"`,
    meant === null
      ? "`acode --help` lists the commands"
      : `did you mean ${meant}? \`acode ${meant} --help\` shows how it is used`,
  )
}

function surplus(word: string): Failure {
  return usageFailure(
    "ACODE-CLI-003",
    `"${printable(word)}" is one argument too many`,
    "`--help` shows the accepted form",
  )
}
