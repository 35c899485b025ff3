import type { Node } from "web-tree-sitter"
import { byteOrderMark } from "../base/text.ts"
import type { ParsedTree } from "./facts.ts"
import type { CodeLanguage } from "./language.ts"
import { readParsed } from "./parser.ts"
import { decodeSource } from "./source-text.ts"

/** The place of a text in positions of the file. */
interface Span {
  readonly start: number
  readonly end: number
}

/** The settings for finding the lines of strings; null in a language without a parser. */
interface StringSearch {
  readonly language: CodeLanguage
  readonly parseMs: number
}

/**
 * Returns a new definition as it is written at a place of a file: with the indentation and the line ends that the file
 * has there, and without empty lines around it. The lines of strings keep their beginning, which is a part of their
 * value.
 */
export async function fittedText(
  text: string,
  span: Span,
  replacement: string,
  search: StringSearch | null,
): Promise<string> {
  const plain = replacement.startsWith(byteOrderMark) ? replacement.slice(1) : replacement
  const lines = plain
    .replace(/^(?:[ \t]*\r?\n)+/, "")
    .trimEnd()
    .split(/\r?\n/)
  const indentation = indentationOf(text.slice(text.lastIndexOf("\n", span.start - 1) + 1, span.start))
  const own = indentationOf(lines[0] ?? "")
  const isPlaced = indentation === own || isCutOut(lines, indentation)
  const newline = hasReturns(text) ? "\r\n" : "\n"
  const written = (kept: ReadonlySet<number>) =>
    lines
      .map((line, index) => {
        if (index === 0) return line.slice(own.length)
        if (isPlaced || kept.has(index) || line.trim() === "") return line
        return indentation + (line.startsWith(own) ? line.slice(own.length) : line.trimStart())
      })
      .join(newline)
  if (isPlaced || search === null) return written(new Set())
  const unchanged = new Set(lines.keys())
  const draft = written(unchanged)
  return written(await stringLines(text, span, draft, search))
}

function indentationOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? ""
}

/** Returns whether a definition was copied without the indentation of its first line. */
function isCutOut([first = "", ...rest]: readonly string[], indentation: string): boolean {
  const filled = rest.filter(line => line.trim() !== "")
  if (first !== first.trimStart() || filled.length === 0) return false
  if (!filled.every(line => line.startsWith(indentation))) return false
  const isDeeper = (line: string) => indentationOf(line).length > indentation.length
  const last = filled.at(-1)?.trimStart() ?? ""
  return filled.slice(0, -1).every(isDeeper) && (isDeeper(filled.at(-1) ?? "") || closing.test(last))
}

const closing = /^(?:[^\w\s]|(?:end|fi|done|esac)\b)/

/** Returns whether most lines of a text end in a carriage return and a line feed. */
function hasReturns(text: string): boolean {
  const both = text.split("\r\n").length - 1
  return both > 0 && both * 2 >= text.split("\n").length - 1
}

/** Returns the numbers of the lines of the replacement that begin inside a string, counted from 0. */
async function stringLines(
  text: string,
  { start, end }: Span,
  replacement: string,
  { language, parseMs }: StringSearch,
): Promise<ReadonlySet<number>> {
  const whole = text.slice(0, start) + replacement + text.slice(end)
  const source = decodeSource(Buffer.from(whole), Number.POSITIVE_INFINITY)
  if ("reason" in source) return new Set()
  const rows = await readParsed(language, source, parseMs, parsed =>
    stringRows(parsed, start, start + replacement.length),
  )
  if (typeof rows === "string") return new Set()
  const firstRow = text.slice(0, start).split("\n").length - 1
  return new Set(rows.map(row => row - firstRow))
}

function stringRows({ tree }: ParsedTree, start: number, end: number): readonly number[] {
  const rows: number[] = []
  const open = [tree.rootNode]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const [first, last] = [node.startPosition.row, node.endPosition.row]
    if (first === last || node.endIndex <= start || node.startIndex >= end) continue
    if (/string|heredoc|nowdoc/.test(node.type)) for (let row = first + 1; row <= last; row++) rows.push(row)
    else for (const child of node.children) if (child !== null) open.push(child)
  }
  return rows
}

/** A part directly above a definition that belongs to it. */
type LeadingPart = "comment" | "attribute"

/** Returns which leading parts a new definition brings along. */
export function leadingPartsIn(text: string, language: CodeLanguage): ReadonlySet<LeadingPart> {
  const found = new Set<LeadingPart>()
  let rest = text.trimStart()
  while (rest !== "") {
    const { attribute } = language
    const isAttribute = attribute !== undefined && rest.startsWith(attribute.begin)
    const length = isAttribute ? closedLength(rest) : (comment.exec(rest)?.[0].length ?? 0)
    if (length === 0) break
    if (isAttribute) found.add("attribute")
    else if (language.docComment.test(rest)) found.add("comment")
    rest = rest.slice(length).trimStart()
  }
  return found
}

const comment = /^(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*|#(?!\[)[^\n]*)/

/** Returns the length of the text up to the bracket that closes the first one, or 0 where none does. */
function closedLength(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "[") depth++
    else if (text[at] === "]" && --depth === 0) return at + 1
  }
  return 0
}

/** Returns where the leading parts of these kinds begin that stand directly above a position. */
export function leadingStart(
  { tree, source, language }: ParsedTree,
  definition: number,
  parts: ReadonlySet<LeadingPart>,
): number {
  const { text } = source
  let start = definition
  while (parts.size > 0) {
    const end = endAbove(text, start)
    if (end === null) break
    const node = partAround(tree.rootNode.descendantForIndex(end - 1, end), language)
    if (node === null || !isAlone(text, node.startIndex)) break
    const isComment = node.type !== language.attribute?.type
    if (!parts.has(isComment ? "comment" : "attribute")) break
    if (isComment && !language.docComment.test(text.slice(node.startIndex, end))) break
    start = node.startIndex
  }
  return start
}

/** Returns where the text of the line above ends; null below an empty line and behind other text. */
function endAbove(text: string, start: number): number | null {
  const before = text.slice(0, start)
  const end = before.trimEnd().length
  return end > 0 && before.slice(end).split("\n").length === 2 ? end : null
}

/** Returns the outermost comment or attribute around a node. Some grammars split both into parts. */
function partAround(node: Node | null, { attribute }: CodeLanguage): Node | null {
  const levelsMax = 20
  let found: Node | null = null
  for (let level = 0, at = node; at !== null && level < levelsMax; level++, at = at.parent)
    if (at.type === attribute?.type || at.type.endsWith("comment")) found = at
  return found
}

function isAlone(text: string, start: number): boolean {
  return text.slice(text.lastIndexOf("\n", start - 1) + 1, start).trim() === ""
}
