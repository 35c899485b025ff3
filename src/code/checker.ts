import { parentOf } from "../base/path-names.ts"
import type { CheckerName } from "../domain/code/checker-names.ts"
import type { CheckedPath, PrintedDiagnostic, ProjectFiles } from "./contract.ts"

/**
 * The meaning of one line of output: a diagnostic, the code of the one before, text that belongs to one or that the
 * checker prints besides, or a line that no rule of the checker knows.
 */
export type ReadLine = PrintedDiagnostic | { readonly codeBefore: string } | "text" | "unread"

/** Reads the lines of one output in their order. It never throws: a line that it cannot read is `unread`. */
export type LineReader = (line: string) => ReadLine

/** A compiler, type checker or linter: when it is used, how it is called, and how its output is read. */
export interface Checker {
  readonly name: CheckerName
  /** The kind of code. One checker of a kind runs: the configured one, else the first that is installed. */
  readonly kind: string
  /** The programs in the order in which they are tried. One with a slash lies in the project or above it. */
  readonly programs: readonly string[]
  /** Returns where and with which arguments it checks a path; null where the path holds nothing for it. */
  readonly callFor: (path: CheckedPath, files: ProjectFiles) => CheckerCall | UncheckedPath | null
  /** Variables that it needs, added where the user has not set them. */
  readonly environment?: Readonly<Record<string, string>>
  readonly reader: () => LineReader
}

export interface CheckerCall {
  /** Relative to the root of the workspace. */
  readonly cwd: string
  /** The arguments behind the program. */
  readonly arguments: readonly string[]
  /** Set where files of the project select the checker, and not the mere presence of source files. */
  readonly isProject: boolean
  /** Set where the project configures this checker: it is preferred to others for the same kind of code. */
  readonly isChosen?: true
}

/** A path that holds code of a checker which cannot be called for it, and why. */
export interface UncheckedPath {
  readonly reason: string
}

/** Returns whether a path is a file with one of these extensions. */
export function isSource({ path, isDirectory }: CheckedPath, extensions: readonly string[]): boolean {
  return !isDirectory && extensions.some(extension => path.toLowerCase().endsWith(`.${extension}`))
}

/** Returns the nearest directory, at a path or above it, that has one of these files; null when none has. */
export function projectAbove(
  { path, isDirectory }: CheckedPath,
  files: ProjectFiles,
  isProjectFile: (name: string) => boolean,
): string | null {
  for (let directory = isDirectory ? path : parentOf(path); ; directory = parentOf(directory)) {
    if ([...files.names(directory)].some(isProjectFile)) return directory
    if (directory === ".") return null
  }
}

/** Returns the directories from one up to the root, nearest first. */
export function directoriesAbove(directory: string): readonly string[] {
  return directory === "." ? ["."] : [directory, ...directoriesAbove(parentOf(directory))]
}

/** Returns a path relative to a directory above it, which a program cannot mistake for an option. */
export function argumentPath(path: string, directory: string): string {
  if (path === directory) return "."
  return `./${directory === "." ? path : path.slice(directory.length + 1)}`
}

/** The most files that one call of a checker is given by name. */
const sourcesMax = 500

/** Returns a call with the source files at a path as arguments; null where there are none. */
export function callWithSources(
  checked: CheckedPath,
  files: ProjectFiles,
  extensions: readonly string[],
  options: readonly string[],
): CheckerCall | UncheckedPath | null {
  const paths = sourcesOf(checked, files, extensions)
  if ("reason" in paths) return paths
  if (paths.length === 0) return null
  return { cwd: ".", arguments: [...options, ...paths.map(path => `./${path}`)], isProject: false }
}

/** The same for a program that checks one file at a time. */
export function callWithOneSource(
  checked: CheckedPath,
  files: ProjectFiles,
  extensions: readonly string[],
  options: readonly string[],
): CheckerCall | UncheckedPath | null {
  const call = callWithSources(checked, files, extensions, options)
  if (call === null || "reason" in call || call.arguments.length === options.length + 1) return call
  return { reason: "it checks one file at a time; name the file" }
}

function sourcesOf(
  checked: CheckedPath,
  files: ProjectFiles,
  extensions: readonly string[],
): readonly string[] | UncheckedPath {
  if (!checked.isDirectory) return isSource(checked, extensions) ? [checked.path] : []
  const { paths, truncated } = files.below(checked.path, extensions)
  if (truncated || paths.length > sourcesMax)
    return {
      reason: `there are more than ${Math.min(paths.length, sourcesMax)} files; name a directory below`,
    }
  return paths
}

/** Returns a reader of lines that each hold one whole diagnostic, or text that this pattern matches. */
export function linesBy(
  read: (line: string) => Exclude<ReadLine, "unread"> | null,
  text: RegExp,
): LineReader {
  return line => read(line) ?? (text.test(line) ? "text" : "unread")
}

/** Returns the level that a word names; anything else that a checker reports is a note. */
export function levelNamed(word: string): PrintedDiagnostic["level"] {
  const level = word.toLowerCase()
  if (/error|fatal/.test(level)) return "error"
  return level.includes("warning") ? "warning" : "note"
}

/** Returns the number that a part of a match spells; null where there is none. */
export function numberOf(digits: string | undefined): number | null {
  const value = digits === undefined ? Number.NaN : Number(digits)
  return Number.isSafeInteger(value) ? value : null
}
