import { byteOrderMark } from "../../base/text.ts"

/** A Markdown file with a head of `key: value` lines between two lines of three dashes. */
export interface FrontMatter {
  /** Its lines, without the dashes. */
  readonly lines: readonly FrontLine[]
  /** Everything behind the closing dashes, byte for byte. */
  readonly body: string
}

export interface FrontLine {
  /** Counted from 1 in the file. */
  readonly number: number
  /** Offset of the line in the text. */
  readonly offset: number
  /** Without its line end. */
  readonly text: string
}

export interface LineProblem {
  readonly line: number
  readonly message: string
}

/** Returns head and body of a file, or why it has none. A byte order mark and CRLF are accepted. */
export function splitFrontMatter(text: string): FrontMatter | LineProblem {
  const start = text.startsWith(byteOrderMark) ? 1 : 0
  const lines: FrontLine[] = []
  let number = 0
  for (let offset = start; offset < text.length; ) {
    const end = endOfLine(text, offset)
    const line = text.slice(offset, end).replace(/[\r\n]+$/, "")
    number += 1
    const isDashes = /^---[ \t]*$/.test(line)
    if (number === 1 && !isDashes) break
    if (number > 1 && isDashes) return { lines, body: text.slice(end) }
    if (number > 1) lines.push({ number, offset, text: line })
    if (lines.length > linesMax)
      return { line: number, message: `has more than ${linesMax} lines before ---` }
    offset = end
  }
  if (number === 0) return { line: 1, message: "is empty; it begins with a line of three dashes (---)" }
  return lines.length === 0 && number === 1
    ? { line: 1, message: "does not begin with a line of three dashes (---)" }
    : { line: 1, message: "has no second line of three dashes (---) that ends the front matter" }
}

/** More lines than a person writes, and few enough to be read at once. */
const linesMax = 500

function endOfLine(text: string, offset: number): number {
  const feed = text.indexOf("\n", offset)
  return feed === -1 ? text.length : feed + 1
}

/** The value of a key: where it stands, and what it says. */
export interface FlatField {
  readonly line: FrontLine
  readonly value: string
  /** The span of the value within its line, quotes included, comment excluded. */
  readonly from: number
  readonly to: number
}

export interface FlatFields {
  readonly fields: ReadonlyMap<string, FlatField>
  readonly problems: readonly LineProblem[]
}

/**
 * Reads lines of `key: value` as text. A nested value (indented lines, or items of a list) is a problem below one of
 * the known keys; below any other key it is left unread.
 */
export function flatFields({ lines }: FrontMatter, known: ReadonlySet<string>): FlatFields {
  const fields = new Map<string, FlatField>()
  const problems: LineProblem[] = []
  let above: string | null = null
  for (const line of lines) {
    if (/^\s*(#|$)/.test(line.text)) continue
    if (/^[\s-]/.test(line.text)) {
      if (above === null || known.has(above)) problems.push(nestedProblem(line, above))
      continue
    }
    const match = /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+|$)/.exec(line.text)
    const key = match?.[1]
    if (match === null || key === undefined) {
      problems.push({ line: line.number, message: "is not `key: value`" })
      above = null
      continue
    }
    above = key
    const read = scalarAt(line.text, match[0].length)
    if (typeof read === "string") {
      if (known.has(key)) problems.push({ line: line.number, message: `${key} ${read}` })
    } else if (fields.has(key)) problems.push({ line: line.number, message: `${key} is given twice` })
    else fields.set(key, { line, ...read })
  }
  return { fields, problems }
}

function nestedProblem({ number }: FrontLine, above: string | null): LineProblem {
  const message =
    above === null ? "belongs to no key" : `continues ${above}, which takes one value on one line`
  return { line: number, message }
}

type Scalar = Pick<FlatField, "value" | "from" | "to">

/** Returns the value that begins at a place of a line, or what is wrong with it. */
function scalarAt(text: string, from: number): Scalar | string {
  const rest = text.slice(from)
  const quoted = /^"(?:[^"\\]|\\.)*"|^'(?:[^']|'')*'/.exec(rest)?.[0]
  if (quoted !== undefined) {
    if (!/^[ \t]*(?:[ \t]#.*)?$/.test(rest.slice(quoted.length))) return "has text behind its closing quote"
    const value = unquoted(quoted)
    return value === null ? "is not a valid quoted text" : { value, from, to: from + quoted.length }
  }
  if (/^["']/.test(rest)) return "has no closing quote"
  if (/^[|>&*!%@`]/.test(rest)) return "is not plain text; put it in quotes"
  const comment = /(?:^|[ \t])#/.exec(rest)
  const plain = (comment === null ? rest : rest.slice(0, comment.index)).replace(/[ \t]+$/, "")
  return { value: plain, from, to: from + plain.length }
}

function unquoted(text: string): string | null {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'")
  try {
    return String(JSON.parse(text))
  } catch {
    // YAML knows a few escapes more than JSON; a value that needs them is a problem.
    return null
  }
}

/** Returns a value as it can stand behind a key: plain where that is read back as it is, else in quotes. */
export function spelledScalar(value: string): string {
  const isPlain =
    value === "" || (/^[^\s"'|>&*!%@`#[\]{},?:-]/.test(value) && !/\s#|:\s|\s$|[\r\n]|:$/.test(value))
  return isPlain ? value : JSON.stringify(value)
}
