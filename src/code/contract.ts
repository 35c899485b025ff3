import type { FileFacts, UnparsedFile } from "../domain/code/symbol.ts"

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
