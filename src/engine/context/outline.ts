import { basename, extname } from "node:path/posix"
import { shownPath } from "../../base/path-names.ts"
import { counted, oneLine } from "../../base/text.ts"
import type { TreeEntry } from "../../workspace/contract.ts"
import type { BoundedText } from "../stages/contract.ts"
import { textTokens } from "./token-estimate.ts"

const outlineBytesMax = 4096
/** The maximum size of the directories, so that files are named too. */
const directoryBytesMax = 1536
const depthMax = 3

/** The size of an outline with symbols, and of the file names in it. */
export const codeOutlineTokensMax = 1_500
const tellingBytesMax = 512

/** Returns a repository on a page: directories with their sizes, then files, the most informative ones first. */
export function outlineOf(entries: readonly Pick<TreeEntry, "path">[]): BoundedText {
  const paths = entries.map(({ path }) => path)
  if (paths.length === 0) return { text: "the workspace is empty", leftOutTokens: 0 }
  const { head, directories } = frameOf(paths)
  const rest = outlineBytesMax - Buffer.byteLength(`${head}\n${directories.text}\n`)
  const files = bounded("files:", paths.toSorted(byImportance).map(shown), rest)
  return {
    text: [head, directories.text, files.text].filter(part => part !== "").join("\n"),
    leftOutTokens: directories.leftOutTokens + files.leftOutTokens,
  }
}

/**
 * Returns a repository on a page where its code is indexed: directories, files that show what kind of project it is,
 * and the most used symbols in place of all other file names. `symbols` returns null where the index cannot be asked.
 */
export async function codeOutlineOf(
  entries: readonly Pick<TreeEntry, "path">[],
  symbols: (tokensMax: number) => Promise<string | null>,
): Promise<BoundedText> {
  const paths = entries.map(({ path }) => path)
  const { head, directories } = frameOf(paths)
  const files = paths.filter(path => rank(path) === 0).toSorted(byImportance)
  const named = bounded("files:", files.map(shown), tellingBytesMax)
  const frame = [head, directories.text, named.text].filter(part => part !== "").join("\n")
  const title = "symbols, by file and line, those used most:"
  const listed = await symbols(codeOutlineTokensMax - textTokens(`${frame}\n${title}\n`))
  if (listed === null || listed === "") return outlineOf(entries)
  return {
    text: [frame, title, listed].join("\n"),
    leftOutTokens: directories.leftOutTokens + named.leftOutTokens,
  }
}

function frameOf(paths: readonly string[]) {
  const directories = bounded("directories:", directoryLines(paths), directoryBytesMax)
  return { head: counted(paths.length, "file"), directories }
}

function directoryLines(paths: readonly string[]): readonly string[] {
  const inside = new Map<string, string[]>()
  for (const path of paths)
    for (const parent of parentsOf(path)) {
      const known = inside.get(parent)
      if (known === undefined) inside.set(parent, [path])
      else known.push(path)
    }
  return [...inside].sort(byDepth).map(([directory, files]) => `${shown(directory)}/ ${kinds(files)}`)
}

function parentsOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1)
  return names.slice(0, depthMax).map((_, index) => names.slice(0, index + 1).join("/"))
}

/** Returns the number of files, and their most frequent kinds. */
function kinds(files: readonly string[]): string {
  const byKind = [...Map.groupBy(files, path => extname(path) || "other")]
    .map(([kind, of]) => ({ kind, count: of.length }))
    .sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1))
    .slice(0, 3)
  return `${files.length} (${byKind.map(({ kind, count }) => `${count} ${oneLine(kind, 20)}`).join(", ")})`
}

function byDepth([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a.split("/").length - b.split("/").length || (a < b ? -1 : 1)
}

/** Files that show what kind of project it is and how it is built. */
const telling =
  /^(?:readme(?:\..+)?|agents\.md|claude\.md|contributing\.md|architecture\.md|package\.json|tsconfig\.json|deno\.jsonc?|cargo\.toml|go\.mod|pyproject\.toml|setup\.py|requirements\.txt|pom\.xml|build\.gradle(?:\.kts)?|makefile|cmakelists\.txt|dockerfile|gemfile|composer\.json|.+\.(?:sln|csproj|fsproj))$/i

function byImportance(a: string, b: string): number {
  const depth = (path: string) => path.split("/").length
  return rank(a) - rank(b) || depth(a) - depth(b) || (a < b ? -1 : 1)
}

function rank(path: string): number {
  return telling.test(basename(path)) ? 0 : 1
}

/** Returns a file name as one line, whatever characters it has. */
function shown(path: string): string {
  return oneLine(shownPath(path), 200)
}

/** Returns as many lines as fit, and the number of those left out. */
function bounded(title: string, lines: readonly string[], bytesMax: number): BoundedText {
  if (lines.length === 0) return { text: "", leftOutTokens: 0 }
  const kept: string[] = []
  let bytes = Buffer.byteLength(title) + 40
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 3
    if (bytes > bytesMax) break
    kept.push(`  ${line}`)
  }
  const missing = lines.slice(kept.length)
  const more = missing.length > 0 ? [`  … and ${missing.length} more`] : []
  const text = [title, ...kept, ...more].join("\n")
  return { text, leftOutTokens: textTokens(missing.join("\n")) }
}
