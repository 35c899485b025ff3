/**
 * Marks the parts of words that are known only at run time. A script is read without running it, and its words are
 * those that the program would receive. The marks are private-use characters; a script that contains such characters
 * is refused, so a mark cannot be forged.
 */
export const marks = {
  /** One word, or part of one, known only at run time. */
  unknown: "\uE000",
  /** The same without quotes: it may become several words, options among them. */
  splitting: "\uE001",
  /** An unquoted `*`, `?` or `[…]`, which expands to names of files. */
  wildcard: "\uE002",
  /** The home directory. */
  home: "\uE003",
} as const

export interface ShellParser {
  /** Parses a script. It never throws; a script that it cannot read with certainty is unreadable. */
  parse(text: string): ParsedScript
}

export type ParsedScript =
  | { readonly readable: false; readonly reason: string }
  | {
      readonly readable: true
      /** Every simple command at any depth, in the order of the text. */
      readonly commands: readonly ParsedCommand[]
      /** The functions that are certainly defined before the command with this index, with their names. */
      readonly functions: readonly { readonly name: string; readonly before: number }[]
      /** Every name that the script gives to a function, anywhere. */
      readonly functionNames: readonly string[]
      /** The first construct that bash and a POSIX shell read differently, or null. */
      readonly bashOnly: string | null
    }

export interface ParsedCommand {
  /** The program and its arguments; empty for a line with only assignments or redirections. */
  readonly words: readonly string[]
  readonly assignments: readonly Assignment[]
  readonly redirects: readonly Redirect[]
  /** The indexes of the commands whose output is the standard input of this one. */
  readonly fedBy: readonly number[]
  /** The functions that contain the command. */
  readonly functions: readonly string[]
  /** Set when the command may run more than once. */
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

/** Reports whether a part of the word is known only at run time. */
export function isDynamic(word: string): boolean {
  return vagueMarks.test(word)
}

/** Reports whether the word may turn out to be an option, or several words. */
export function mayBecomeOption(word: string): boolean {
  if (word.includes(marks.splitting)) return true
  return word.startsWith(marks.unknown) || word.startsWith(marks.wildcard)
}

const plainAscii = /^[\t\n\x20-\x7e]*$/
/** Control, invisible, reordering, private-use and look-alike blank characters. */
const deceiving =
  /[^\P{Cc}\t\n]|\p{Default_Ignorable_Code_Point}|\p{Cf}|\p{Zl}|\p{Zp}|[^\P{Zs} ]|\p{Co}|\p{Cs}|\p{Cn}/u

/** Names the first character that makes the shown text differ from the run text, or returns null. */
export function deceivingCharacter(text: string): string | null {
  if (plainAscii.test(text)) return null
  const found = deceiving.exec(text)?.[0]
  return found === undefined
    ? null
    : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
}
