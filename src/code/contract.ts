import type { CheckerName } from "../domain/code/checker-names.ts"
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

/** A path to check, relative to the root, which is `.`. */
export interface CheckedPath {
  readonly path: string
  readonly isDirectory: boolean
}

/** The files of the workspace that show how it is checked. */
export interface ProjectFiles {
  isFile(path: string): boolean
  /** Returns the names in a directory. */
  names(directory: string): ReadonlySet<string>
  /** Returns a small text file; null when it does not exist or is another kind of file. */
  text(path: string): string | null
  /** Returns files below a directory with one of these extensions, and whether there are more. */
  below(directory: string, extensions: readonly string[]): SourceFiles
}

export interface SourceFiles {
  readonly paths: readonly string[]
  readonly truncated: boolean
}

/** A command that checks code. */
export interface CheckCommand {
  /** The checker whose output it prints. */
  readonly checker: CheckerName
  readonly argv: readonly string[]
  /** Relative to the root. */
  readonly cwd: string
  /** Variables that it needs, added where the user has not set them. */
  readonly environment: Readonly<Record<string, string>>
}

export interface CheckerSettings {
  /** Commands that replace those of checkers; null for a checker that is not used. */
  readonly configured: ReadonlyMap<CheckerName, readonly string[] | null>
  /** Reports whether a program of this name is installed, outside of the workspace. */
  readonly hasProgram: (name: string) => boolean
}

/** The checks of a path: at most one command for each kind of code. */
export interface Checks {
  readonly commands: readonly CheckCommand[]
  /** The reasons why some of the code cannot be checked, one for each kind of code. */
  readonly missing: readonly string[]
}

/** A message of a checker. */
export interface PrintedDiagnostic {
  readonly level: "error" | "warning" | "note"
  readonly message: string
  /** The path as printed; empty where the message is about no file. */
  readonly file: string
  /** 0 where the message is about no line. */
  readonly line: number
  readonly column: number | null
  readonly code: string | null
}

export interface CheckOutput {
  /** Errors first, each once; a bounded number. */
  readonly diagnostics: readonly PrintedDiagnostic[]
  readonly errors: number
  readonly warnings: number
  /** The lines that no rule of the checker knows, each cut to a bounded length. */
  readonly unreadLines: readonly string[]
}

/** Knows the compilers, type checkers and linters of projects. Runs nothing, and throws only for a bug. */
export interface CodeChecks {
  checksOf(path: CheckedPath, files: ProjectFiles, settings: CheckerSettings): Checks
  /** Reads what a checker printed, in any order of its streams. */
  readOutput(checker: CheckerName, outputs: readonly string[]): CheckOutput
}
