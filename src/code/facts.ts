import type { Node, Query, QueryMatch, QueryOptions, Tree } from "web-tree-sitter"
import { oneLine } from "../base/text.ts"
import { type CodePlace, type CodeSymbol, qualifiedName, type SymbolKind } from "../domain/code/symbol.ts"
import type { CodeLanguage } from "./language.ts"
import type { SourceText } from "./source-text.ts"

/** A definition as a query found it, in positions of the text. */
interface FoundSymbol {
  readonly name: string
  readonly kind: SymbolKind
  readonly start: number
  readonly end: number
  /** A container that does not stand around it. */
  readonly container: string | null
}

export interface CodeQueries {
  readonly definitions: Query
  readonly identifiers: Query
  readonly errors: Query
  /** The nodes that may belong to the definition inside them; null in a language without. */
  readonly wrappers: Query | null
}

/** One parsed file, and the time by which all of it has to be read. */
export interface ParsedTree {
  readonly tree: Tree
  readonly language: CodeLanguage
  readonly queries: CodeQueries
  readonly source: SourceText
  readonly deadline: number
}

/** Thrown when a query takes longer than the file may. */
export class ReadingTooSlow extends Error {}

/** Returns the symbols of a tree in the order of the file. */
export function symbolsOf(parsed: ParsedTree): CodeSymbol[] {
  const { source, queries } = parsed
  const parents = parentsOf(parsed)
  const found = new Map<number, FoundSymbol & { readonly pattern: number }>()
  for (const match of inTime(parsed, options => queries.definitions.matches(parsed.tree.rootNode, options))) {
    const symbol = symbolOf(match, parents, source.text)
    if (symbol === null) continue
    const known = found.get(symbol.nameStart)
    // The first pattern decides the kind; the widest node is the span.
    const first = known !== undefined && known.pattern <= match.patternIndex ? known : symbol
    const wide = known !== undefined && known.end - known.start >= symbol.end - symbol.start ? known : symbol
    found.set(symbol.nameStart, {
      ...first,
      start: wide.start,
      end: wide.end,
      pattern: Math.min(known?.pattern ?? match.patternIndex, match.patternIndex),
    })
  }
  const sorted = [...found.values()].sort((a, b) => a.start - b.start || b.end - a.end)
  return withContainers(sorted, source)
}

/** A query that is stopped returns what it found until then, which would pass for all there is. */
function inTime<Found>({ deadline }: ParsedTree, run: (options: QueryOptions) => Found): Found {
  const found = run({ progressCallback: () => performance.now() > deadline })
  if (performance.now() > deadline) throw new ReadingTooSlow()
  return found
}

function symbolOf(match: QueryMatch, parents: Parents, text: string) {
  let name: Node | null = null
  let container: Node | null = null
  let defined: { readonly node: Node; readonly capture: string } | null = null
  for (const { name: capture, node } of match.captures) {
    if (capture === "name") name = node
    else if (capture === "container") container = node
    else if (!capture.startsWith("_")) defined = { node, capture }
  }
  if (name === null || defined === null) return null
  const node = widened(defined.node, parents)
  const isTopOnly = defined.capture.startsWith(topOnly)
  if (isTopOnly && !isAtTop(node, parents)) return null
  return {
    name: plainName(text.slice(name.startIndex, name.endIndex)),
    nameStart: name.startIndex,
    // A capture is named by a kind in every query; a test reads all of them.
    kind: defined.capture.slice(isTopOnly ? topOnly.length : 0) as SymbolKind,
    start: node.startIndex,
    // Some grammars count the end of the line as part of a definition.
    end: node.startIndex + text.slice(node.startIndex, node.endIndex).trimEnd().length,
    container:
      container === null ? null : containerName(text.slice(container.startIndex, container.endIndex)),
    pattern: match.patternIndex,
  }
}

const topOnly = "top."

/** Names of modules may be in quotes, and names in C++ may hold blanks. */
function plainName(text: string): string {
  return text.replace(/^["']|["']$/g, "").replace(/\s+/g, " ")
}

/** `Matrix<T>` contains what `Matrix` does. */
function containerName(text: string): string {
  return plainName(text.replace(/<.*$/s, ""))
}

/** The parents that matter, by the ids of their children. `Node.parent` walks down from the root each time. */
interface Parents {
  readonly wrappers: ReadonlyMap<number, { readonly node: Node; readonly widens: boolean }>
  /** The children of the root. */
  readonly top: ReadonlySet<number>
}

function parentsOf(parsed: ParsedTree): Parents {
  const { tree, language, queries } = parsed
  const wrappers = new Map<number, { readonly node: Node; readonly widens: boolean }>()
  const { wrappers: query } = queries
  const nodes = query === null ? [] : inTime(parsed, options => query.captures(tree.rootNode, options))
  for (const { node } of nodes) {
    const children = node.namedChildren
    const widens = language.wrappers?.[node.type] === "always" || children.length === 1
    for (const child of children) if (child !== null) wrappers.set(child.id, { node, widens })
  }
  return { wrappers, top: new Set(tree.rootNode.namedChildren.map(child => child?.id ?? 0)) }
}

function widened(node: Node, { wrappers }: Parents): Node {
  let widest = node
  for (let parent = wrappers.get(node.id); parent?.widens === true; parent = wrappers.get(widest.id))
    widest = parent.node
  return widest
}

function isAtTop(node: Node, { wrappers, top }: Parents): boolean {
  let outermost = node
  for (let parent = wrappers.get(node.id); parent !== undefined; parent = wrappers.get(outermost.id))
    outermost = parent.node
  return top.has(outermost.id)
}

/** A function directly inside one of these is a method of it. */
const ownsMethods: ReadonlySet<SymbolKind> = new Set([
  "class",
  "struct",
  "interface",
  "trait",
  "impl",
  "enum",
])

function withContainers(sorted: readonly FoundSymbol[], source: SourceText): CodeSymbol[] {
  const around: { readonly end: number; readonly kind: SymbolKind; readonly path: string }[] = []
  return sorted.map(({ name, kind, start, end, container: named }) => {
    while ((around.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= start) around.pop()
    // A type that gives a name to a struct is not around that struct, but around its methods it is.
    const outer = around.findLast(({ kind: around }) => around !== "type" || kind === "method")
    const parts = [...(outer === undefined ? [] : [outer.path]), ...(named === null ? [] : [named])]
    const container = parts.length === 0 ? null : parts.join(".")
    const isMethod = kind === "function" && (named !== null || ownsMethods.has(outer?.kind ?? "function"))
    const symbol: CodeSymbol = {
      name,
      kind: isMethod ? "method" : kind,
      byteStart: source.byteAt(start),
      byteEnd: source.byteAt(end),
      lineStart: source.lineAt(start),
      lineEnd: source.lineAt(Math.max(start, end - 1)),
      container,
      signature: signatureOf(source.text, kind, start, end),
    }
    around.push({ end, kind, path: qualifiedName(symbol) })
    return symbol
  })
}

const signatureCharactersMax = 160

/** Returns a definition up to its body, on one line and without what decorates it. */
function signatureOf(text: string, kind: SymbolKind, start: number, end: number): string {
  const definition = text.slice(start, Math.min(end, start + 4 * signatureCharactersMax))
  const head = definition.replace(/^(?:@(?!interface\b)[\w.]+(?:\([^\n]*\))?\s*\n\s*)+/, "")
  const template = /^template\b[^\n]*\n/.exec(head)?.[0].length ?? 0
  const shown = head.slice(0, template + bodyStart(head.slice(template), kind))
  return oneLine(shown.replace(/\s+/g, " ").trim(), signatureCharactersMax)
}

/** Returns where a head ends, outside all parentheses: at the end of the line, or at the body if the kind has one. */
function bodyStart(head: string, kind: SymbolKind): number {
  const hasBody = kind !== "type" && kind !== "constant" && kind !== "variable"
  let depth = 0
  for (let index = 0; index < head.length; index++) {
    const character = head[index]
    if (character === "\n" && (kind === "constant" || kind === "variable")) return index
    if (character === "(" || character === "[") depth++
    else if (character === ")" || character === "]") depth--
    else if (depth > 0) continue
    else if (character === "\n") return index
    else if (hasBody && (character === "{" || head.startsWith("=>", index))) return index
  }
  return head.length
}

/** Returns every place of every identifier, grouped by name in the order of the first places. */
export function referencesOf(parsed: ParsedTree) {
  const { tree, queries, source } = parsed
  const byName = new Map<string, CodePlace[]>()
  let last = -1
  for (const { node } of inTime(parsed, options => queries.identifiers.captures(tree.rootNode, options))) {
    const start = node.startIndex
    // Two patterns may capture the same node.
    if (start <= last) continue
    last = start
    const end = node.endIndex
    if (end === start) continue
    const name = source.text.slice(start, end)
    const place = { byteStart: source.byteAt(start), line: source.lineAt(start) }
    const places = byName.get(name)
    if (places === undefined) byName.set(name, [place])
    else places.push(place)
  }
  return [...byName].map(([name, places]) => ({ name, places }))
}

/** Returns how many nodes of a tree are errors or were added by the parser. */
export function errorCountOf(parsed: ParsedTree): number {
  const { tree, queries } = parsed
  if (!tree.rootNode.hasError) return 0
  const errors = inTime(parsed, options => queries.errors.captures(tree.rootNode, options))
  return Math.max(1, errors.length)
}
