import { byteOrderMark } from "../../base/text.ts"
import { type PatchFailureKind, patchFailure } from "./patch-failures.ts"
import { withoutReturn } from "./text-lines.ts"

export interface FilePatch {
  readonly path: string
  readonly action: "modify" | "create" | "delete"
  readonly hunks: readonly PatchHunk[]
}

export interface PatchHunk {
  /** The line that the patch states, counted from 1; null where it states none. */
  readonly oldStart: number | null
  readonly lines: readonly PatchLine[]
}

export interface PatchLine {
  readonly sign: " " | "-" | "+"
  /** The line without its newline; a carriage return is still there. */
  readonly text: string
  readonly isUnended: boolean
}

/**
 * Parses a unified diff, of git or of another program. `onlyPath` is the file of hunks without a header. Renames,
 * copies, modes and binary changes are refused: applying half of them would be worse than none.
 */
export function parsePatch(text: string, onlyPath: string | null = null): FilePatch[] {
  const reader: PatchReader = { lines: patchLines(text), at: 0 }
  const patches: FilePatch[] = []
  while (reader.at < reader.lines.length) {
    const patch = parseFile(reader, onlyPath)
    if (patch !== null) patches.push(patch)
  }
  if (patches.length === 0)
    throw patchFailure("malformed", "patch", "the patch holds no change: there is no @@ line")
  return patches
}

interface PatchReader {
  readonly lines: readonly string[]
  at: number
}

/** Splits a patch into lines. A patch that was sent with carriage returns has them on its own lines too. */
function patchLines(text: string): string[] {
  const lines = (text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text).split("\n")
  if (lines.at(-1) === "") lines.pop()
  const headers = lines.filter(line => isHunkHeader(line) || /^(--- |\+\+\+ )/.test(line))
  const isTransported = headers.length > 0 && headers.every(line => line.endsWith("\r"))
  return isTransported ? lines.map(withoutReturn) : lines
}

function parseFile(reader: PatchReader, onlyPath: string | null): FilePatch | null {
  const start = reader.at
  const header = parseHeader(reader)
  const hunks: PatchHunk[] = []
  while (isHunkHeader(reader.lines[reader.at])) hunks.push(parseHunk(reader))
  if (header.found || hunks.length > 0) {
    const { path, action } = patchedPath(header, onlyPath)
    if (hunks.length === 0 && action === "modify")
      throw malformed(start, "names a file and holds no change of it: there is no @@ line")
    return { path, action, hunks }
  }
  if (reader.at === start) reader.at += 1
  return null
}

/** Parses everything up to the first hunk; text that is not part of a patch is skipped. */
function parseHeader(reader: PatchReader): PatchHeader {
  const header: PatchHeader = {
    found: false,
    oldName: null,
    newName: null,
    gitLine: null,
    isNew: false,
    isDeleted: false,
  }
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? ""
    if (isHunkHeader(line)) break
    if (line.startsWith("diff --git ")) {
      if (header.found) break
      header.found = true
      header.gitLine = line
    } else if (isFileHeader(reader, reader.at)) {
      if (header.oldName !== null) break
      header.found = true
      header.oldName = line.slice(4)
      header.newName = (reader.lines[reader.at + 1] ?? "").slice(4)
      reader.at += 1
    } else readExtension(header, line, reader.at)
  }
  return header
}

function readExtension(header: PatchHeader, line: string, at: number): void {
  if (/^(rename|copy) (from|to) |^similarity index /.test(line)) throw refused(at, "renames or copies a file")
  if (/^GIT binary patch|^Binary files .* differ$/.test(line)) throw refused(at, "changes a binary file")
  if (header.gitLine === null) return
  if (/^(old|new) mode /.test(line)) throw refused(at, "changes the mode of a file")
  const mode = /^(new|deleted) file mode (\d+)/.exec(line)
  if (mode === null) return
  if (mode[1] === "new" && mode[2] !== "100644")
    throw refused(at, "makes a file that is a link or executable")
  header.isNew ||= mode[1] === "new"
  header.isDeleted ||= mode[1] === "deleted"
}

/**
 * Accepts a bare @@, or one with a heading behind it, as well: models know the lines around a change and not their
 * numbers.
 */
function isHunkHeader(line: string | undefined): boolean {
  return line !== undefined && /^@@(?:[ \r]|$)/.test(line)
}

function isFileHeader({ lines }: PatchReader, at: number): boolean {
  return (lines[at]?.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")) ?? false
}

function parseHunk(reader: PatchReader): PatchHunk {
  const at = reader.at
  const line = reader.lines[at] ?? ""
  reader.at += 1
  const { oldStart, lines } = line.startsWith("@@ -")
    ? numberedHunk(reader, at)
    : { oldStart: null, lines: boundedBody(reader) }
  if (lines.length === 0) throw malformed(at, "has an @@ line and nothing below it")
  return { oldStart, lines }
}

function numberedHunk(reader: PatchReader, at: number): PatchHunk {
  const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(reader.lines[at] ?? "")
  if (header === null) throw malformed(at, "has an @@ line that cannot be read")
  const [oldCount, newCount] = [Number(header[2] ?? 1), Number(header[4] ?? 1)]
  return {
    oldStart: Number(header[1]),
    lines: countedBody(reader, oldCount, newCount) ?? boundedBody(reader),
  }
}

/** Returns the lines that the counts announce; null, without reading any, where the counts are wrong. */
function countedBody(reader: PatchReader, oldCount: number, newCount: number): PatchLine[] | null {
  const body: PatchLine[] = []
  let [olds, news, at] = [0, 0, reader.at]
  for (; olds < oldCount || news < newCount || reader.lines[at]?.startsWith("\\"); at++) {
    const line = reader.lines[at]
    if (line === undefined || !takeLine(body, line)) return null
    const sign = line.startsWith("\\") ? null : body.at(-1)?.sign
    if (sign === " " || sign === "-") olds += 1
    if (sign === " " || sign === "+") news += 1
  }
  const continues =
    /^[ +-]/.test(reader.lines[at] ?? "") && !isFileHeader(reader, at) && !isSignature(reader, at)
  if (olds !== oldCount || news !== newCount || continues) return null
  reader.at = at
  return body
}

/** Reads a hunk with wrong counts, as people and models write them: it ends where the next one starts. */
function boundedBody(reader: PatchReader): PatchLine[] {
  const body: PatchLine[] = []
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? ""
    if (isHunkHeader(line) || line.startsWith("diff --git ")) break
    if (isFileHeader(reader, reader.at) || isSignature(reader, reader.at)) break
    if (!takeLine(body, line))
      throw malformed(reader.at, "has a line in a hunk that starts with neither space, + nor -")
  }
  // Empty lines at the end belong to the text that the patch was pasted into.
  for (let back = reader.at - 1; reader.lines[back] === "" && body.length > 0; back--) body.pop()
  return body
}

/** Reports whether the line starts the signature that git's mail programs append. */
function isSignature({ lines }: PatchReader, at: number): boolean {
  return lines[at] === "-- " && at >= lines.length - 3
}

/** Adds a line. An empty line is one whose only space an editor removed. */
function takeLine(body: PatchLine[], line: string): boolean {
  const sign = line[0] ?? " "
  if (sign === "\\") {
    const last = body.pop()
    if (last === undefined) return false
    body.push({ ...last, isUnended: true })
    return true
  }
  if (sign === "\r") return takeLine(body, " \r")
  if (sign !== " " && sign !== "-" && sign !== "+") return false
  body.push({ sign, text: line.slice(1), isUnended: false })
  return true
}

function malformed(at: number, what: string) {
  return failure("malformed", at, what)
}

function refused(at: number, what: string) {
  return failure("unsupported", at, `${what}, which a patch cannot do here`)
}

function failure(kind: PatchFailureKind, at: number, what: string) {
  return patchFailure(kind, `patch line ${at + 1}`, `the patch ${what} (line ${at + 1})`)
}

/** The lines above the hunks of a file. */
interface PatchHeader {
  found: boolean
  /** The name as written after `---` and `+++`. */
  oldName: string | null
  newName: string | null
  gitLine: string | null
  isNew: boolean
  isDeleted: boolean
}

/** Returns the file of a header and its fate. */
function patchedPath(
  header: PatchHeader,
  onlyPath: string | null,
): { path: string; action: "modify" | "create" | "delete" } {
  const path = namedPath(header)
  const action =
    isNothing(header.oldName) || header.isNew
      ? "create"
      : isNothing(header.newName) || header.isDeleted
        ? "delete"
        : "modify"
  if (path === null && onlyPath === null)
    throw patchFailure(
      "malformed",
      "patch",
      "the patch does not say which file it is about: there are no --- and +++ lines",
    )
  if (path !== null && onlyPath !== null && path !== onlyPath)
    throw patchFailure("wrongTarget", path, `the patch is about "${path}", not about "${onlyPath}"`)
  return { path: path ?? onlyPath ?? "", action }
}

function namedPath(header: PatchHeader): string | null {
  const { oldName, newName, gitLine } = header
  if (oldName === null || newName === null) return gitLine === null ? null : pathOfGitLine(gitLine)
  const [before, after] = [cleanName(oldName), cleanName(newName)]
  if (isNothing(oldName)) return after.replace(/^b\//, "")
  if (isNothing(newName)) return before.replace(/^a\//, "")
  const isPrefixed = before.startsWith("a/") && after.startsWith("b/")
  const [from, to] = isPrefixed ? [before.slice(2), after.slice(2)] : [before, after]
  if (from !== to)
    throw patchFailure(
      "unsupported",
      from,
      `the patch renames "${from}" to "${to}", which a patch cannot do here`,
    )
  return to
}

function pathOfGitLine(line: string): string {
  const names = line.slice("diff --git ".length)
  const plain = /^a\/(.+) b\/\1$/.exec(names)?.[1]
  if (plain !== undefined) return plain
  const quoted = /^"a\/(.+)" "b\/\1"$/.exec(names)?.[1]
  if (quoted !== undefined) return unquoted(quoted)
  throw patchFailure("unsupported", "patch", "the patch renames a file, which a patch cannot do here")
}

function isNothing(name: string | null): boolean {
  return name !== null && cleanName(name) === "/dev/null"
}

/** Removes the time that some programs append after a tab, and the quotes around unusual names. */
function cleanName(name: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(name)?.[1]
  return quoted === undefined ? (name.split("\t")[0] ?? "").trimEnd() : unquoted(quoted)
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
}

/** Decodes bytes outside ASCII, which are octal numbers of their UTF-8. */
function unquoted(text: string): string {
  const bytes: Buffer[] = []
  for (const [found, octal, escaped] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8) & 0xff]))
    else bytes.push(Buffer.from(escaped === undefined ? found : (escapes[escaped] ?? escaped)))
  }
  return Buffer.concat(bytes).toString("utf8")
}
