import type { CodeSymbol, FileFacts, SymbolKind, UnparsedFile } from "../domain/code/symbol.ts"

/** Limits of one file; beyond them it is not parsed, and the facts say why. */
export interface ParseLimits {
  readonly fileBytesMax: number
  readonly lineCharactersMax: number
  readonly parseMs: number
}

/**
 * Reads source files of the languages acode knows. Nothing is executed or stored, and no file is opened: the caller
 * hands over the bytes, which may be anything. Only a bug throws; what cannot be read is `unparsed`.
 */
export interface CodeParser {
  /** Returns the language of a file by its name, and by its first line where the name says nothing. */
  languageOf(path: string, bytes?: Uint8Array): string | null
  /** Returns null for a file of no known language. */
  parse(path: string, bytes: Uint8Array): Promise<FileFacts | UnparsedFile | null>
  /** Identifies the grammars and queries: facts of another version are out of date. */
  readonly version: string
}

export interface SpliceRequest {
  readonly path: string
  readonly bytes: Uint8Array
  /** The name of the symbol, alone or behind names of its containers: `Matrix.multiply`. */
  readonly symbol: string
  /** Null for any kind. */
  readonly kind: SymbolKind | null
  /** The whole new definition. A comment at its beginning replaces the documentation comment of the old one. */
  readonly replacement: string
}

export type Splice =
  | {
      readonly kind: "spliced"
      readonly bytes: Uint8Array
      /** The symbol as it is in the new bytes. */
      readonly symbol: CodeSymbol
      /** The bytes of the old file that were replaced. */
      readonly replaced: { readonly byteStart: number; readonly byteEnd: number }
    }
  /** The file is in no known language, or cannot be parsed. */
  | { readonly kind: "unparsed"; readonly reason: string }
  /** No symbol fits; `others` have the name and another kind. */
  | { readonly kind: "missing"; readonly others: readonly CodeSymbol[] }
  | { readonly kind: "ambiguous"; readonly symbols: readonly CodeSymbol[] }
  /** The new file would not be what was asked for. */
  | { readonly kind: "broken"; readonly reason: string }

/**
 * Replaces one symbol of a file. Every byte outside of the symbol, and of its documentation comment where that is
 * replaced too, stays as it is. Writes nothing; only a bug throws.
 */
export type SpliceSymbol = (request: SpliceRequest) => Promise<Splice>
