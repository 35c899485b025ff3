import { closeSync, constants, openSync, readFileSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import { pathFromBytes } from "../../base/path-bytes.ts"
import { Failure } from "../../domain/failure.ts"
import type { RunProgram, SearchRequest, SearchResult, SearchRow } from "../contract.ts"
import { fileFailure } from "../failures.ts"
import { pin } from "../files/pin.ts"
import { pinGuarded } from "../files/pinned-name.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import { decodeText } from "../files/text-format.ts"
import { walkFiles } from "../tree/walk.ts"
import { searchNameGlob } from "./glob.ts"
import { compileLineMatcher, type LineMatcher } from "./line-matcher.ts"

export interface SearchTools {
  readonly isHidden: (path: string) => boolean
  readonly clock: Clock
  /** Absent when this machine has no ripgrep. */
  readonly ripgrep?: { readonly program: string; readonly run: RunProgram }
}

/** Finds lines by a pattern, with ripgrep where it exists and works, else by reading the files. */
export async function searchFiles(
  root: WorkspaceRoot,
  request: SearchRequest,
  tools: SearchTools,
): Promise<SearchResult> {
  if (request.pattern === "" || /[\0\n\r]/.test(request.pattern))
    throw fileFailure("malformed", request.pattern, "is not a valid pattern: it is empty or spans lines")
  const matchesGlob = request.glob === undefined ? () => true : searchNameGlob(request.glob)
  const scope = searchScope(root, request, tools.isHidden, matchesGlob)
  const found = tools.ripgrep === undefined ? null : await searchWithRipgrep(scope, tools.ripgrep)
  const engine = found === null ? "own" : "ripgrep"
  const { rows, truncated } = found ?? searchByReading(scope, tools.clock)
  const sorted = rows.toSorted(byPathAndLine)
  return {
    rows: sorted.slice(0, request.matchesMax),
    truncated: truncated || sorted.length > request.matchesMax,
    engine,
  }
}

function searchScope(
  root: WorkspaceRoot,
  { pattern, path, matchesMax, timeoutMs }: SearchRequest,
  isHidden: (path: string) => boolean,
  matchesGlob: (path: string) => boolean,
): SearchScope {
  using found = pinGuarded(root, path, "read")
  const start = found.relative
  const isFile = found.stat.isFile()
  if (!isFile && !found.stat.isDirectory()) throw fileFailure("notRegular", path, "cannot be searched")
  const skip = isFile || start === "." ? 0 : start.length + 1
  const accepts = (file: string) => !isHiddenPath(file, isHidden) && (isFile || matchesGlob(file.slice(skip)))
  return { root, pattern, start, isFile, matchesMax, timeoutMs, accepts, isHidden }
}

/** Reports whether a path or a directory above it is hidden. */
function isHiddenPath(path: string, isHidden: (path: string) => boolean): boolean {
  const names = path.split("/")
  return names.some((_, index) => isHidden(names.slice(0, index + 1).join("/")))
}

function byPathAndLine(a: SearchRow, b: SearchRow): number {
  if (a.file_path !== b.file_path) return a.file_path < b.file_path ? -1 : 1
  return a.line_number - b.line_number
}

/** Larger files are not searched, and the result reports that it is not complete. */
const fileBytesMax = 16 * 1024 * 1024

/** Searches without ripgrep: the same syntax, bounded in time and in the size of files. */
function searchByReading(scope: SearchScope, clock: Clock): FoundRows {
  const matcher = compileLineMatcher(scope.pattern)
  const deadline = clock.monotonicMs() + scope.timeoutMs
  const files = scope.isFile ? [scope.start] : walkFiles(scope.root.path, scope.start, scope.isHidden)
  const rows: SearchRow[] = []
  let truncated = false
  for (const path of files) {
    if (clock.monotonicMs() > deadline) return { rows, truncated: true }
    if (!scope.accepts(path)) continue
    const content = contentOf(scope, path)
    if (content === "tooLarge" && scope.isFile)
      throw fileFailure("tooLarge", path, `is larger than the ${fileBytesMax} bytes that are searched`)
    if (content === "tooLarge") truncated = true
    if (content === null || content === "tooLarge") continue
    if (!collect(matcher, path, content, scope.matchesMax + 1, rows, () => clock.monotonicMs() > deadline))
      return { rows, truncated: true }
  }
  return { rows, truncated }
}

/** Adds the matching lines of a file. Returns false when the limit of rows or of time is reached. */
function collect(
  matcher: LineMatcher,
  path: string,
  bytes: Uint8Array,
  rowsMax: number,
  rows: SearchRow[],
  isLate: () => boolean,
): boolean {
  const { required } = matcher
  const isPlain = bytes[0] !== 0xff && bytes[0] !== 0xfe
  if (
    required !== null &&
    isPlain &&
    !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(required)
  )
    return true
  const text = decodeText(bytes)?.text ?? ""
  let number = 0
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start)
    const end = newline < 0 ? text.length : newline
    number += 1
    const line = text.slice(start, end).replace(/\r$/, "")
    start = end + 1
    if (number % 1000 === 0 && isLate()) return false
    if (required !== null && !line.includes(required)) continue
    if (!matcher.matches(line)) continue
    if (rows.length >= rowsMax) return false
    rows.push({ file_path: path, line_number: number, line: line.slice(0, rowLengthMax) })
  }
  return true
}

/** Returns null for a path that is not text, not a file any more, or not readable: it has no matches. */
function contentOf({ root }: SearchScope, path: string): Uint8Array | "tooLarge" | null {
  try {
    using file = pin(root, path, "never")
    if (!file?.stat.isFile()) return null
    if (file.stat.size > fileBytesMax) return "tooLarge"
    const fd = openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return readFileSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (error instanceof Failure || errnoOf(error) !== null) return null
    throw error
  }
}

const stdoutBytesMax = 16 * 1024 * 1024

/** Returns null when ripgrep fails for any reason: there is another engine. */
async function searchWithRipgrep(
  scope: SearchScope,
  { program, run }: { readonly program: string; readonly run: RunProgram },
): Promise<FoundRows | null> {
  const { exitCode, stdout, truncated } = await run([program, ...ripgrepArguments(scope)], {
    cwd: scope.root.path,
    stdoutBytesMax,
    timeoutMs: scope.timeoutMs,
  })
  const failed = exitCode !== 0 && exitCode !== 1
  if (failed && stdout.length === 0) return null
  const rows: SearchRow[] = []
  for (const line of Buffer.from(stdout).toString("utf8").split("\n")) {
    const row = rowOf(line)
    if (row !== null && scope.accepts(row.file_path)) rows.push(row)
  }
  return { rows, truncated: truncated || failed }
}

/**
 * Builds the arguments. The pattern is part of its option and paths come after `--` with `./` in front: neither can
 * become an option, and `--pre` would run a program. A configuration file could hold such an option too, so none is
 * read. Globs are applied to the rows, because ripgrep would include ignored files for them. File sizes have no limit:
 * ripgrep would skip a larger file silently, while running out of time is reported.
 */
function ripgrepArguments({ pattern, start }: SearchScope): string[] {
  return [
    "--no-config",
    "--json",
    "--hidden",
    "--no-messages",
    "--no-follow",
    "--no-ignore-global",
    "--no-ignore-dot",
    "--sort=path",
    "--glob=!.git",
    "--glob=!.agent",
    `--regexp=${pattern}`,
    "--",
    start === "." ? "./" : `./${start}`,
  ]
}

/** Returns null for messages that are not matches, and for a last one that was cut off. */
function rowOf(line: string): SearchRow | null {
  const message = parse(line)
  if (!isRecord(message) || message["type"] !== "match" || !isRecord(message["data"])) return null
  const { path, lines, line_number } = message["data"]
  const file = textOf(path, pathFromBytes)
  const text = textOf(lines, bytes => Buffer.from(bytes).toString("latin1"))
  if (file === null || text === null || typeof line_number !== "number") return null
  const shown = text.replace(/\r?\n$/, "").slice(0, rowLengthMax)
  return { file_path: file.replace(/^(\.\/+)+/, ""), line_number, line: shown }
}

/** Decodes a name or a line, which ripgrep encodes as base64 where it is not UTF-8. */
function textOf(value: unknown, decode: (bytes: Uint8Array) => string): string | null {
  if (!isRecord(value)) return null
  if (typeof value["text"] === "string") return value["text"]
  return typeof value["bytes"] === "string" ? decode(Buffer.from(value["bytes"], "base64")) : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The output was cut off inside a message, which `truncated` reports.
    return null
  }
}

/** The input of both engines, which filter their rows by it. */
interface SearchScope {
  readonly root: WorkspaceRoot
  readonly pattern: string
  /** A real path in the workspace, or `.`. */
  readonly start: string
  readonly isFile: boolean
  readonly matchesMax: number
  readonly timeoutMs: number
  readonly accepts: (path: string) => boolean
  readonly isHidden: (path: string) => boolean
}

/** The rows an engine found, in any order; at most a few more than requested. */
interface FoundRows {
  readonly rows: readonly SearchRow[]
  readonly truncated: boolean
}

/** Characters of a line that are returned: more than is ever displayed, so that redaction sees secrets whole. */
const rowLengthMax = 32 * 1024
