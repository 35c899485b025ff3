import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"

/**
 * Splits the one-string form of a command into words as a POSIX shell would, without one. Whatever only a shell
 * could do (pipes, variables, globs, …) is refused with ACODE-EXE-007, never passed on as if it were meant literally.
 */
export function commandWords(line: string): readonly string[] {
  const words = splitWords(line)
  const [program] = words
  if (program === undefined || program.trim() === "") throw refused(line, "it names no program")
  if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(program))
    throw refused(line, `"${printable(program)}" sets a variable`, "use --env NAME=VALUE")
  return program === "exit" || program === "true" || program === "false" ? builtinWords(line, words) : words
}

/** Matches one piece of a word or the blanks between two. Everything else has a meaning for a shell. */
const pieces =
  /(?<blank>[ \t]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\$`]|\\[^\n])*)"|\\(?<escaped>[^\n])|(?<plain>[^\s\p{Cc}'"\\;&|$`<>()*?[]+)|(?<bracket>\[(?=[ \t]|$))/uy

function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | null = null
  pieces.lastIndex = 0
  for (let index = 0; index < line.length; index = pieces.lastIndex) {
    const found = pieces.exec(line)
    if (found === null) throw shellOnly(line, index)
    const { blank, single, double, escaped, plain, bracket } = found.groups ?? {}
    if (blank !== undefined) {
      if (word !== null) words.push(word)
      word = null
      continue
    }
    // A tilde and a hash mean something only where a word begins: `HEAD~1` and `a#b` are plain text.
    if (word === null && plain !== undefined && /^[~#]/.test(plain)) throw shellOnly(line, index)
    if (word !== null && bracket !== undefined) throw shellOnly(line, index)
    word = (word ?? "") + (single ?? escaped ?? plain ?? bracket ?? unescaped(double ?? ""))
  }
  return word === null ? words : [...words, word]
}

/** Removes the backslashes that escape inside double quotes: those before a character with a meaning there. */
function unescaped(quoted: string): string {
  return quoted.replace(/\\([$`"\\])/g, "$1")
}

/** Returns a fixed script for programs without a file (`exit`) or whose file differs between systems. */
function builtinWords(line: string, [name, ...more]: readonly string[]): readonly string[] {
  if (name !== "exit") return exitWith(name === "true" ? "0" : "1")
  const [code = "0", surplus] = more
  if (surplus !== undefined) throw refused(line, "exit takes one number")
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255)
    throw refused(line, `exit takes a number from 0 to 255, not "${printable(code)}"`)
  return exitWith(code)
}

function exitWith(code: string): readonly string[] {
  return ["/bin/sh", "-c", 'exit "$1"', "sh", code]
}

function shellOnly(line: string, index: number): Failure {
  const character = String.fromCodePoint(line.codePointAt(index) ?? 0)
  if (character === "'" || character === '"') {
    const rest = line.slice(index + 1)
    if (character === "'" || !/(?<!\\)[$`]/.test(rest))
      return refused(line, `the quote ${character} is not closed`)
    return refused(line, "$ and ` inside double quotes mean something only to a shell")
  }
  const shown = character === "\n" ? "a line break" : `"${printable(character)}"`
  return refused(line, `${shown} at character ${index + 1} means something only to a shell`)
}

function refused(line: string, why: string, hint = "use --shell or separate arguments"): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-EXE-007",
    message: `the command is not valid: ${why}`,
    where: printable(line.length > 200 ? `${line.slice(0, 199)}…` : line),
    hint,
  })
}
