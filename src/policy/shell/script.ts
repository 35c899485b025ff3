/**
 * What a shell would start, read from a string without running it. Words are as the program would receive them, with
 * a mark in the place of each part that is known only when it runs. The marks are private-use characters, which a
 * script that contains them itself is refused for, so a mark is never forged.
 */
export const marks = {
  /** One word, or part of one, known only when it runs. */
  unknown: "\uE000",
  /** The same, and not quoted: it may become several words, options among them. */
  splitting: "\uE001",
  /** An unquoted `*`, `?` or `[…]`, which the names of files decide. */
  wildcard: "\uE002",
  /** The home directory. */
  home: "\uE003",
} as const

export interface ShellParser {
  /** Never throws and never guesses: what it is not sure about is unreadable. */
  parse(text: string): ParsedScript
}

export type ParsedScript =
  | { readonly readable: false; readonly reason: string }
  | {
      readonly readable: true
      /** Every simple command, however deep it is nested, in the order it is written. */
      readonly commands: readonly ParsedCommand[]
      /** Functions that are surely defined before the command with this index, and what they are called. */
      readonly functions: readonly { readonly name: string; readonly before: number }[]
      /** Every name the script gives to a function, wherever it does. */
      readonly functionNames: readonly string[]
      /** The first construct that bash and a POSIX shell read differently, or null. */
      readonly bashOnly: string | null
    }

export interface ParsedCommand {
  /** Program and arguments; empty for a line of assignments or redirections alone. */
  readonly words: readonly string[]
  readonly assignments: readonly Assignment[]
  readonly redirects: readonly Redirect[]
  /** The commands whose output is its standard input, by index. */
  readonly fedBy: readonly number[]
  /** The functions it is part of. */
  readonly functions: readonly string[]
  /** Whether it may run more often than once. */
  readonly repeated: boolean
}

export interface Assignment {
  readonly name: string
  readonly value: string
}

export type Redirect =
  | { readonly kind: "file"; readonly operator: string; readonly target: string }
  | { readonly kind: "text"; readonly body: string }

const vagueMarks = new RegExp(`[${marks.unknown}${marks.splitting}${marks.wildcard}]`)

/** Whether some part of the word is known only when it runs. */
export function isDynamic(word: string): boolean {
  return vagueMarks.test(word)
}

/** Whether the word may turn out to be an option, or several words. */
export function mayBecomeOption(word: string): boolean {
  if (word.includes(marks.splitting)) return true
  return word.startsWith(marks.unknown) || word.startsWith(marks.wildcard)
}

const plainAscii = /^[\t\n\x20-\x7e]*$/
/** Control, invisible, reordering, private-use and look-alike blank characters. */
const deceiving =
  /[^\P{Cc}\t\n]|\p{Default_Ignorable_Code_Point}|\p{Cf}|\p{Zl}|\p{Zp}|[^\P{Zs} ]|\p{Co}|\p{Cs}|\p{Cn}/u

/** Names the first character that makes what a person reads differ from what runs, or null. */
export function deceivingCharacter(text: string): string | null {
  if (plainAscii.test(text)) return null
  const found = deceiving.exec(text)?.[0]
  return found === undefined
    ? null
    : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
}
