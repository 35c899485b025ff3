/** The kind of a named part of a source file. `key` is a key of a data file. */
export const symbolKinds = [
  "function",
  "method",
  "class",
  "struct",
  "interface",
  "trait",
  "enum",
  "type",
  "impl",
  "module",
  "constant",
  "variable",
  "macro",
  "key",
] as const
export type SymbolKind = (typeof symbolKinds)[number]

/** A definition in one file. Offsets count bytes of the file and end behind the last one; lines count from 1. */
export interface CodeSymbol {
  readonly name: string
  readonly kind: SymbolKind
  readonly byteStart: number
  readonly byteEnd: number
  readonly lineStart: number
  readonly lineEnd: number
  /** The names of the symbols around this one, joined by dots; null at the top of a file. */
  readonly container: string | null
  /** The beginning of the definition on one line, without its body. */
  readonly signature: string
}

/** Every place of a file where a name stands as an identifier: its definitions, uses and properties. */
export interface CodeReferences {
  readonly name: string
  readonly places: readonly CodePlace[]
}

export interface CodePlace {
  readonly byteStart: number
  readonly line: number
}

/** The result of parsing one file. */
export interface FileFacts {
  readonly kind: "parsed"
  readonly language: string
  /** The symbols in the order of the file; a container precedes its content. */
  readonly symbols: readonly CodeSymbol[]
  readonly references: readonly CodeReferences[]
  /** The number of syntax errors. Symbols around them may be missing. */
  readonly errorCount: number
}

/** A file of a known language without facts, and why. */
export interface UnparsedFile {
  readonly kind: "unparsed"
  readonly language: string
  readonly reason: string
}

/** Returns the name by which a symbol can be found: its container and its own name, joined by a dot. */
export function qualifiedName({ name, container }: Pick<CodeSymbol, "name" | "container">): string {
  return container === null ? name : `${container}.${name}`
}
/** A symbol as tools, `--json` and plans show it. */
export interface SymbolRow {
  readonly symbol_id: string
  readonly name: string
  readonly kind: SymbolKind
  readonly file_path: string
  readonly byte_start: number
  readonly byte_end: number
  readonly line_start: number
  readonly line_end: number
  readonly container: string | null
  readonly signature: string
}

/** One place where a name is used. `match` says that names were compared, not what they are bound to. */
export interface ReferenceRow {
  readonly reference_id: string
  readonly from_file_path: string
  /** The symbol that the name belongs to, when exactly one in the index has it; null otherwise. */
  readonly symbol_id: string | null
  readonly symbol_name: string
  readonly byte_start: number
  readonly byte_end: number
  readonly line: number
  readonly match: "name"
}

/** Returns whether `typed` names the symbol: by its name alone, or with one or more of its containers. */
export function isNamed(symbol: Pick<CodeSymbol, "name" | "container">, typed: string): boolean {
  return symbol.name === typed || `.${qualifiedName(symbol)}`.endsWith(`.${typed}`)
}
