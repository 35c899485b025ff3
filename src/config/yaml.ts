import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
} from "yaml"
import type { Json } from "../base/canonical.ts"
import { printable } from "../base/text.ts"

/** A YAML document as plain values, with the position of each. */
export interface YamlTree {
  readonly value: Json
  /** Returns the position of the value at a path, or of its key; if that is missing, of the nearest value around it. */
  placeOf(path: readonly (string | number)[], what: "key" | "value"): YamlPlace
}

export interface YamlPlace {
  readonly line: number
  readonly column: number
}

export interface YamlProblem extends YamlPlace {
  readonly kind: "malformed" | "tooLarge"
  readonly message: string
}

export type YamlRead = { readonly tree: YamlTree } | { readonly problems: readonly YamlProblem[] }

/** Limits for a file that is written by hand; a file beyond them is an attack or a mistake. */
const limits = { depth: 20, keys: 1000, aliases: 100, values: 10_000, tokens: 100_000, problems: 50 }

/** Reads one document of maps, lists and scalars. For every text it takes bounded time and does not throw. */
export function readYaml(
  source: string,
  { keysMax = limits.keys }: { readonly keysMax?: number } = {},
): YamlRead {
  const text = source.startsWith("\ufeff") ? source.slice(1) : source
  const lines = new LineCounter()
  const place = (offset: number): YamlPlace => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const early = refusedEarly(text)
  if (early !== null) return { problems: [{ kind: early.kind, message: early.message, line: 1, column: 1 }] }
  // `mapValue` finds duplicates: the parser's own check compares every key with every other.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "error",
  })
  const malformed = syntaxProblems(document, place)
  if (malformed.length > 0) return { problems: malformed }
  const walk: Walk = {
    offsets: new Map(),
    anchors: new Map(),
    counts: { keys: 0, aliases: 0, values: 0 },
    keysMax,
    found: [],
  }
  const value = plainValue(walk, document.contents, [], null)
  if (walk.found.length > 0)
    return { problems: walk.found.map(({ offset, kind, message }) => ({ kind, message, ...place(offset) })) }
  return { tree: { value, placeOf: (path, what) => place(nearestOffset(walk.offsets, path, what)) } }
}

interface Refusal {
  readonly kind: YamlProblem["kind"]
  readonly message: string
}

/** Counts tokens before parsing: a million brackets would take a gigabyte and seconds to parse. */
function refusedEarly(text: string): Refusal | null {
  if (text.includes("\0")) return { kind: "malformed", message: "contains a NUL byte" }
  let count = 0
  for (const _ of new Lexer().lex(text)) {
    count += 1
    if (count > limits.tokens) return { kind: "tooLarge", message: "holds too many elements" }
  }
  return null
}

function syntaxProblems(document: Document.Parsed, place: (offset: number) => YamlPlace): YamlProblem[] {
  // `%YAML 1.1` would change what `yes`, `010` and `<<` mean.
  if (document.directives.yaml.explicit === true)
    return [{ kind: "malformed", message: "directives (%YAML) are not supported", ...place(0) }]
  return document.errors.slice(0, limits.problems).map(error => {
    const at = place(error.pos[0])
    if (error.code === "MULTIPLE_DOCS")
      return { kind: "malformed", message: "a second document starts here; only one is allowed", ...at }
    if (error.code === "RESOURCE_EXHAUSTION") return { kind: "tooLarge", message: tooDeep, ...at }
    return { kind: "malformed", message: `is not YAML: ${printable(error.message)}`, ...at }
  })
}

interface Walk {
  readonly offsets: Map<string, number>
  readonly anchors: Map<string, Node>
  readonly counts: { keys: number; aliases: number; values: number }
  readonly keysMax: number
  readonly found: (Refusal & { readonly offset: number })[]
}

type Path = readonly (string | number)[]

const tooDeep = `is nested more than ${limits.depth} levels deep`

/** Returns the node as a plain value. `site` is the offset of the alias that refers to the node, for messages. */
function plainValue(walk: Walk, node: unknown, path: Path, site: number | null): Json {
  if (isFull(walk) || node === null || node === undefined) return null
  const offset = site ?? offsetOf(node)
  walk.offsets.set(offsetKey(path, "value"), offset)
  walk.counts.values += 1
  if (walk.counts.values > limits.values) return refuse(walk, offset, "tooLarge", "holds too many values")
  if (path.length > limits.depth) return refuse(walk, offset, "tooLarge", tooDeep)
  if (isAlias(node)) return aliasedValue(walk, node.source, path, offset)
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return null
  if (node.tag !== undefined) return refuse(walk, offset, "malformed", "tags (!) are not supported")
  const value = isScalar(node)
    ? scalarValue(node.value)
    : isMap(node)
      ? mapValue(walk, node.items, path, site)
      : listValue(walk, node.items, path, site)
  // The anchor is defined only after its value, so that a value cannot contain itself.
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node)
  return value
}

function aliasedValue(walk: Walk, name: string, path: Path, offset: number): Json {
  walk.counts.aliases += 1
  if (walk.counts.aliases > limits.aliases)
    return refuse(walk, offset, "tooLarge", `uses more than ${limits.aliases} aliases`)
  const target = walk.anchors.get(name)
  if (target === undefined)
    return refuse(walk, offset, "malformed", `*${printable(name)} refers to no anchor before it`)
  return plainValue(walk, target, path, offset)
}

function scalarValue(value: unknown): Json {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value
  return null
}

function mapValue(
  walk: Walk,
  items: readonly { key: unknown; value: unknown }[],
  path: Path,
  site: number | null,
): Json {
  // Without a prototype, a key named __proto__ is an ordinary key.
  const map: { [key: string]: Json } = Object.create(null)
  for (const item of items) {
    if (isFull(walk)) break
    const offset = site ?? offsetOf(item.key)
    const key = keyText(walk, item.key, offset)
    if (key === null) continue
    walk.counts.keys += 1
    if (walk.counts.keys > walk.keysMax)
      return refuse(walk, offset, "tooLarge", `has more than ${walk.keysMax} keys`)
    if (Object.hasOwn(map, key)) {
      refuse(walk, offset, "malformed", `the key ${printable(JSON.stringify(key))} is repeated in one map`)
      continue
    }
    walk.offsets.set(offsetKey([...path, key], "key"), offset)
    map[key] = plainValue(walk, item.value, [...path, key], site)
  }
  return map
}

function keyText(walk: Walk, node: unknown, offset: number): string | null {
  if (!isScalar(node)) {
    refuse(walk, offset, "malformed", "a key must be plain text")
    return null
  }
  if (node.tag !== undefined) refuse(walk, offset, "malformed", "tags (!) are not supported")
  if (node.value === "<<" && node.type === "PLAIN")
    refuse(walk, offset, "malformed", "merge keys (<<) are not supported")
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value))
}

function listValue(walk: Walk, items: readonly unknown[], path: Path, site: number | null): Json {
  const list: Json[] = []
  for (const [index, item] of items.entries()) {
    if (isFull(walk)) break
    list.push(plainValue(walk, item, [...path, index], site))
  }
  return list
}

function refuse(walk: Walk, offset: number, kind: YamlProblem["kind"], message: string): null {
  if (!isFull(walk)) walk.found.push({ offset, kind, message })
  return null
}

/** Reports whether the walk ends: after an exceeded limit the rest would only repeat the problem. */
function isFull(walk: Walk): boolean {
  return walk.found.length >= limits.problems || walk.found.at(-1)?.kind === "tooLarge"
}

function offsetOf(node: unknown): number {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0
}

function offsetKey(path: Path, what: "key" | "value"): string {
  return JSON.stringify([what, ...path])
}

function nearestOffset(offsets: ReadonlyMap<string, number>, path: Path, what: "key" | "value"): number {
  const exact = offsets.get(offsetKey(path, what))
  if (exact !== undefined) return exact
  for (let length = path.length; length >= 0; length--) {
    const around = offsets.get(offsetKey(path.slice(0, length), "value"))
    if (around !== undefined) return around
  }
  return 0
}
