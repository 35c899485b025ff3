import { mayBecomeOption } from "../shell/script.ts"

export interface Option {
  /** The name with its dashes: `-n`, `--name`. */
  readonly name: string
  readonly value: string | null
  readonly at: number
}

export interface Operand {
  readonly word: string
  readonly at: number
}

export interface Arguments {
  readonly options: readonly Option[]
  readonly operands: readonly Operand[]
  /** The indexes of arguments that may turn out to be options at run time. */
  readonly vague: readonly number[]
}

export interface Syntax {
  /** The options whose value is the next argument unless it is attached. */
  readonly valued: ReadonlySet<string>
  /** Set when an argument with one dash is one option (`find -name`), not a cluster of letters. */
  readonly longDash: boolean
  /** Set when options end at the first operand: the rest belongs to another program or a sub-command. */
  readonly stops: boolean
}

/** Reads arguments as getopt does: clusters, attached values, `--`, options after operands. */
export function scanArguments(argv: readonly string[], from: number, syntax: Syntax): Arguments {
  const options: Option[] = []
  const operands: Operand[] = []
  const vague: number[] = []
  for (let at = from; at < argv.length; at++) {
    const word = argv[at] ?? ""
    if (word === "--") {
      for (let rest = at + 1; rest < argv.length; rest++) operands.push({ word: argv[rest] ?? "", at: rest })
      break
    }
    if (mayBecomeOption(word)) vague.push(at)
    // Some compilers read `/name:value` as an option as well.
    const isSlashed = syntax.longDash && /^\/\w+[:=]/.test(word)
    if ((!word.startsWith("-") || word === "-") && !isSlashed) {
      operands.push({ word, at })
      if (!syntax.stops) continue
      for (let rest = at + 1; rest < argv.length; rest++) operands.push({ word: argv[rest] ?? "", at: rest })
      break
    }
    const read = word.startsWith("--") || syntax.longDash ? [longOption(word, at)] : cluster(word, at, syntax)
    const last = read.at(-1)
    const needsValue = last !== undefined && last.value === null && syntax.valued.has(last.name)
    if (needsValue) at += 1
    options.push(...read.slice(0, -1))
    if (last !== undefined) options.push(needsValue ? { ...last, value: argv[at] ?? null } : last)
  }
  return { options, operands, vague }
}

function longOption(word: string, at: number): Option {
  const equals = word.indexOf("=")
  return equals < 0
    ? { name: word, value: null, at }
    : { name: word.slice(0, equals), value: word.slice(equals + 1), at }
}

function cluster(word: string, at: number, syntax: Syntax): Option[] {
  const found: Option[] = []
  for (let index = 1; index < word.length; index++) {
    const name = `-${word[index]}`
    const rest = word.slice(index + 1)
    if (syntax.valued.has(name) && rest !== "") return [...found, { name, value: rest, at }]
    found.push({ name, value: null, at })
  }
  return found
}

/**
 * Reports whether an option as typed is the listed one. Long options may be shortened to any prefix, which many
 * parsers accept; `plain` lists real options that only resemble a prefix of a listed one.
 */
export function isOption(typed: string, listed: string, plain: ReadonlySet<string>): boolean {
  if (typed === listed) return true
  if (!typed.startsWith("--") || typed.length < 3 || plain.has(typed)) return false
  return listed.startsWith(typed)
}

export function hasOption(
  { options }: Arguments,
  listed: readonly string[],
  plain: ReadonlySet<string> = noOptions,
): boolean {
  return options.some(option => listed.some(name => isOption(option.name, name, plain)))
}

export const noOptions: ReadonlySet<string> = new Set()

export function syntaxOf(valued: string, flags: { longDash?: boolean; stops?: boolean } = {}): Syntax {
  const names = valued === "" ? [] : valued.split(" ")
  return { valued: new Set(names), longDash: flags.longDash ?? false, stops: flags.stops ?? false }
}
