import type { CodePlace, CodeSymbol, FileFacts, UnparsedFile } from "../../domain/code/symbol.ts"

/** A file as the index knows it. */
export interface IndexedFile {
  readonly path: string
  /** The hash of the content that was read. */
  readonly sha256: string
  readonly language: string
  readonly errorCount: number
  /** The reason why the file was not parsed; null when it was. */
  readonly unparsed: string | null
}

export interface FileToIndex {
  readonly path: string
  readonly sha256: string
  readonly facts: FileFacts | UnparsedFile
}

export interface LocatedSymbol {
  readonly path: string
  readonly symbol: CodeSymbol
}

/** A symbol, and how many other files use its name, shared among all symbols of the name. */
export interface RankedSymbol extends LocatedSymbol {
  readonly language: string
  readonly usesElsewhere: number
}

export interface LocatedReferences {
  readonly path: string
  readonly places: readonly CodePlace[]
}

/**
 * Symbols and references of a workspace: a cache that can be removed at any time. Readers never wait for the writer,
 * and each answer is of one moment.
 */
export interface CodeIndex extends Disposable {
  files(): ReadonlyMap<string, IndexedFile>
  /** Returns the symbols of a file in its order. */
  symbolsIn(path: string): readonly CodeSymbol[]
  /** Returns the symbols of this name, without containers, by path and place. */
  symbolsNamed(name: string): readonly LocatedSymbol[]
  /** Returns the places of a name by path; in one file alone where a path is given. */
  references(name: string, path?: string): readonly LocatedReferences[]
  /** Returns the symbols of files whose path begins so, with what the outline ranks them by. */
  ranked(pathPrefix: string): readonly RankedSymbol[]
}

/** The one process that may change the index; disposing it lets another one. */
export interface CodeIndexWriter extends CodeIndex {
  /** Replaces what is known of some files and forgets others, all or nothing. */
  update(files: readonly FileToIndex[], removed: readonly string[]): void
}
