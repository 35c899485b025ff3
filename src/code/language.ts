/** The description of a language: its parser, and the syntax nodes that are definitions and identifiers. */
export interface CodeLanguage {
  readonly name: string
  /** Without the dot. */
  readonly extensions: readonly string[]
  /** Whole file names. */
  readonly fileNames?: readonly string[]
  /** Names of programs in a `#!` line. */
  readonly interpreters?: readonly string[]
  /** The path of the grammar, a WebAssembly file, which may be compressed. */
  readonly grammar: string
  /**
   * A tree-sitter query. Each pattern captures the definition under its kind, and its name as `@name`. `@top.KIND`
   * counts only at the top of a file. `@container` names a container that does not stand around the definition. Where
   * two patterns find the same name, the first of them decides the kind. Captures that begin with `_` are for
   * predicates.
   */
  readonly definitions: string
  /** A tree-sitter query that captures every identifier. */
  readonly identifiers: string
  /** Nodes that belong to the definition inside them: always, or when it is their only named child. */
  readonly wrappers?: Readonly<Record<string, "always" | "alone">>
  /** Matches a comment that documents the definition below it. */
  readonly docComment: RegExp
  /** The nodes directly above a definition that belong to it, and how they begin: the attributes of Rust. */
  readonly attribute?: { readonly type: string; readonly begin: string }
}

/** Languages that hold data: their symbols are keys, and they have no references. */
export type DataLanguage = "json" | "yaml"
