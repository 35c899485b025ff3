import { patchFailure } from "./patch-failures.ts"

/** What stands above the hunks of a file. */
export interface PatchHeader {
  found: boolean
  /** As written after `---` and `+++`. */
  oldName: string | null
  newName: string | null
  gitLine: string | null
  isNew: boolean
  isDeleted: boolean
}

/** The file a header is about, and what becomes of it. */
export function patchedPath(
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

/** Without the time that some programs put behind a tab, and without the quotes around unusual names. */
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

/** Bytes outside ASCII come as octal numbers of their UTF-8. */
function unquoted(text: string): string {
  const bytes: Buffer[] = []
  for (const [found, octal, escaped] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8) & 0xff]))
    else bytes.push(Buffer.from(escaped === undefined ? found : (escapes[escaped] ?? escaped)))
  }
  return Buffer.concat(bytes).toString("utf8")
}
