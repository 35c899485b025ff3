import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
} from "yaml"
import type { Json } from "../base/canonical.ts"

/**
 * Yields texts with the value set at a path, the one with the smallest change first. None of them is verified: the
 * caller parses each text and uses the first with the expected values.
 */
export function* editedYaml(before: string, path: readonly string[], value: Json): Generator<string> {
  const mark = before.startsWith("\ufeff") ? "\ufeff" : ""
  const text = before.slice(mark.length)
  const newline = text.includes("\r\n") ? "\r\n" : "\n"
  const document = parseDocument(text, { uniqueKeys: false, logLevel: "error" })
  const spliced =
    replacedValue(text, newline, document, path, value) ?? insertedKey(text, newline, document, path, value)
  if (spliced !== null) yield mark + spliced
  const rewritten = rewrittenDocument(document, path, value)
  if (rewritten !== null) yield mark + rewritten.replaceAll("\n", newline)
}

/** Returns the document as the parser writes it: comments stay, the form of the rest may change. */
function rewrittenDocument(document: Document.Parsed, path: readonly string[], value: Json): string | null {
  try {
    // Given a plain scalar, `setIn` keeps the node at the path, and its comment.
    document.setIn(path, Array.isArray(value) ? document.createNode(value) : value)
    return document.toString({ lineWidth: 0 })
  } catch {
    // The document has text where a section belongs, or an alias would lose its anchor: it cannot be edited this way.
    return null
  }
}

function replacedValue(
  text: string,
  newline: string,
  document: Document.Parsed,
  path: readonly string[],
  value: Json,
): string | null {
  const node = document.getIn(path, true)
  if (!isScalar(node) && !isSeq(node) && !isMap(node) && !isAlias(node)) return null
  if (isSeq(node) && node.flow !== true && Array.isArray(value) && value.length === 0)
    return emptiedList(text, newline, document, path, node)
  const [start, end] = node.range ?? [0, 0]
  const contentEnd = start + text.slice(start, end).trimEnd().length
  const inserted = written(value, node, columnOf(text, start), newline)
  // An empty value has no characters: it starts right behind its colon and right before a comment.
  const before = start === end && text[start - 1] === ":" ? " " : ""
  const after = start === end && text[start] === "#" ? " " : ""
  return text.slice(0, start) + before + inserted + after + text.slice(contentEnd)
}

/** Replaces a block list by `[]` behind the colon, and removes the lines of the old list. */
function emptiedList(
  text: string,
  newline: string,
  document: Document.Parsed,
  path: readonly string[],
  list: Node,
): string | null {
  const section = document.getIn(path.slice(0, -1), true)
  const key = isMap(section) ? pairOf(section, path.at(-1) ?? "")?.key : undefined
  const [start, end] = list.range ?? [0, 0]
  const behindColon = text.indexOf(":", isScalar(key) ? key.range?.[1] : 0) + 1
  const firstLine = text.lastIndexOf("\n", start) + 1
  const lastLine = lineEnd(text, start + text.slice(start, end).trimEnd().length)
  if (behindColon === 0 || behindColon > firstLine) return null
  const between = text.slice(behindColon, firstLine)
  return `${text.slice(0, behindColon)} []${between}${text.slice(lastLine + newline.length)}`
}

/** Returns the YAML of the value: a list replaces a block list as a block list, everything else is one line. */
function written(value: Json, replaced: Node, column: number, newline: string): string {
  if (!isSeq(replaced) || replaced.flow === true || !Array.isArray(value) || value.length === 0)
    return oneLineOf(value)
  return value.map(entry => `- ${oneLineOf(entry)}`).join(newline + " ".repeat(column))
}

function oneLineOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(entry => JSON.stringify(entry)).join(", ")}]`
  return stringify(value, { lineWidth: 0 }).trimEnd()
}

/** Inserts the missing part of the path after the last entry of the deepest section that exists. */
function insertedKey(
  text: string,
  newline: string,
  document: Document.Parsed,
  path: readonly string[],
  value: Json,
): string | null {
  const place = insertionPlace(text, document.contents, path)
  if (place === null) return null
  const lines = place.missing.map((key, index) => `${" ".repeat(place.indent + 2 * index)}${key}:`)
  const added = `${lines.join(newline)} ${oneLineOf(value)}`
  return text.slice(0, place.offset) + newline + added + text.slice(place.offset)
}

interface InsertionPlace {
  /** The offset of the end of a line. */
  readonly offset: number
  readonly indent: number
  readonly missing: readonly string[]
}

function insertionPlace(text: string, root: unknown, path: readonly string[]): InsertionPlace | null {
  if (!isBlockMap(root)) return null
  let map = root
  for (const [depth, key] of path.entries()) {
    const pair = pairOf(map, key)
    const missing = path.slice(depth + 1)
    if (pair === undefined) return behindLast(text, map, path.slice(depth))
    if (isScalar(pair.value) && pair.value.value === null && missing.length > 0) {
      const offset = lineEnd(text, pair.value.range?.[0] ?? 0)
      return { offset, indent: columnOf(text, rangeStart(pair.key)) + 2, missing }
    }
    if (!isBlockMap(pair.value)) return null
    map = pair.value
  }
  return null
}

function behindLast(text: string, map: YAMLMap, missing: readonly string[]): InsertionPlace | null {
  const end = map.range?.[1]
  const [first] = map.items
  if (end === undefined || first === undefined) return null
  const contentEnd = text.slice(0, end).trimEnd().length
  return { offset: lineEnd(text, contentEnd), indent: columnOf(text, rangeStart(first.key)), missing }
}

function isBlockMap(node: unknown): node is YAMLMap {
  return isMap(node) && node.flow !== true
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find(item => isScalar(item.key) && item.key.value === key)
}

function rangeStart(node: unknown): number {
  return isScalar(node) ? (node.range?.[0] ?? 0) : 0
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1)
}

function lineEnd(text: string, offset: number): number {
  const found = text.slice(offset).search(/\r?\n|$/)
  return offset + found
}
