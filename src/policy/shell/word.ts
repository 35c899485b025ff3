import { marks } from "./script.ts"

/**
 * Thrown for text that a shell may read differently than this parser. The parser catches it and never lets it out.
 */
export class UnreadableScript extends Error {}

const special = /[\s;&|<>()'"`$]/

/** Returns the value of an unquoted word: escapes resolved, wildcards and the home directory marked. */
export function bareWord(text: string, startsWord: boolean): string {
  const tilde = startsWord ? tildeOf(text) : null
  let value = tilde === null ? "" : marks.home
  for (let index = tilde ?? 0; index < text.length; index++) {
    const character = text[index] ?? ""
    if (character === "\\") {
      const escaped = text[index + 1]
      if (escaped === undefined || escaped === "\n") throw new UnreadableScript("a line ends inside a word")
      value += escaped
      index += 1
    } else if (special.test(character) || (character === "#" && startsWord && index === 0)) {
      throw new UnreadableScript(
        `${JSON.stringify(character)} is at a place where a shell would end the word`,
      )
    } else if (character === "~" && /[=:]/.test(text[index - 1] ?? "")) {
      // `name=~` is a home directory to bash and a tilde to others.
      value += marks.unknown
    } else value += "*?[".includes(character) ? marks.wildcard : character
  }
  return hasBraces(text) ? `${marks.splitting}${value}` : value
}

/** Returns how many characters `~` takes at the start of a word. The homes of other users are unknown. */
function tildeOf(text: string): number | null {
  if (!text.startsWith("~")) return null
  if (text.length === 1 || text[1] === "/") return 1
  throw new UnreadableScript("a home directory other than the user's own")
}

/**
 * Reports whether the word has braces: `{a,b}` and `{1..3}` become several words in bash and stay one in a POSIX
 * shell.
 */
function hasBraces(text: string): boolean {
  return /\{[^}]*(,|\.\.)/.test(text)
}

/** Returns the literal part of a double-quoted string: four characters can be escaped, any other backslash stays. */
export function quotedText(text: string): string {
  let value = ""
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? ""
    const next = text[index + 1]
    if (character === "\\" && next !== undefined && '$`"\\\n'.includes(next)) {
      value += next === "\n" ? "" : next
      index += 1
    } else if (character === "`" || character === '"') {
      throw new UnreadableScript("quotes that do not pair")
    } else if (character === "$" && next !== undefined && /[A-Za-z0-9_{([@*#?!$'-]/.test(next)) {
      throw new UnreadableScript("an unreadable expansion")
    } else value += character
  }
  return value
}

/** Reports whether the text between two parts of a command only separates them. */
export function isBlank(gap: string): boolean {
  return /^(?:[ \t]|[ \t]\\\n)*$/.test(gap)
}

const plainParameter = /^\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*)|[0-9@*#?$!-])$/
const posixParameter = /^\$\{#?(?:[A-Za-z_][A-Za-z0-9_]*|\d+|[@*#?$!-])(?::?[-+?]|%%?|##?)?/

/** Returns the mark for `$name` and similar forms. Forms that assign or evaluate are refused. */
export function parameter(text: string, quoted: boolean): string {
  const plain = plainParameter.exec(text)
  const name = plain?.[1] ?? plain?.[2]
  if (name === "HOME") return marks.home
  if (plain === null && !isReadableParameter(text)) throw new UnreadableScript(`the expansion ${text}`)
  // `"$@"` is as many words as there are arguments, quoted or not.
  return quoted && !/^\$\{?@/.test(text) ? marks.unknown : marks.splitting
}

function isReadableParameter(text: string): boolean {
  const head = posixParameter.exec(text)?.[0]
  if (head === undefined) return false
  // After a length or an operator any text may follow; after a bare name only the closing brace.
  return text.length === head.length + 1 || /[-+?%#]$/.test(head)
}
