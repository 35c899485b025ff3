import type { CodePlace, CodeSymbol, FileFacts, UnparsedFile } from "../../domain/code/symbol.ts"

/** The state of a file in the index. */
export interface IndexedFile {
  readonly path: string
  /** The hash of the content that was parsed. */
  readonly sha256: string
  readonly language: string
  readonly errorCount: number
  /** The reason why the file was not parsed; null if it was. */
  readonly unparsed: string | null
}

/** The facts that a parser returned for one file. */
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
 * and each result is consistent in itself.
 */
export interface CodeIndex extends Disposable {
  /** Returns all files of the index by path. */
  files(): ReadonlyMap<string, IndexedFile>
  /** Returns the symbols of a file in its order. */
  symbolsIn(path: string): readonly CodeSymbol[]
  /** Returns the symbols of this name, without containers, by path and place. */
  symbolsNamed(name: string): readonly LocatedSymbol[]
  /** Returns the places of a name by path; only those of one file if `path` is given. */
  references(name: string, path?: string): readonly LocatedReferences[]
  /**
   * Returns the symbols of the files whose path begins with `pathPrefix`, with the number the outline ranks them by.
   */
  ranked(pathPrefix: string): readonly RankedSymbol[]
}

/** The writer of the index. Only one process has it at a time; disposing it frees the index for another. */
export interface CodeIndexWriter extends CodeIndex {
  /** Replaces the facts of some files and removes others, in one transaction. */
  update(files: readonly FileToIndex[], removed: readonly string[]): void
}
