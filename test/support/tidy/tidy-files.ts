import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { repositoryRoot } from "../acode.ts"

/** One file of the repository as the tidy rules see it. */
export interface TidyFile {
  /** Relative to the repository, with `/`. */
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
}

/** A breach of a rule: where, what, and what to do instead. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

/** Every text file that is or would be committed. */
export function repositoryFiles(root = repositoryRoot): TidyFile[] {
  return [...new Set(repositoryPaths(root))].sort().flatMap(path => {
    const text = readText(join(root, path))
    return text === null ? [] : [tidyFile(path, text)]
  })
}

/** Without git, or in a tree that came without its history, everything but what .gitignore names. */
function repositoryPaths(root: string): readonly string[] {
  if (Bun.which("git") === null || !existsSync(join(root, ".git"))) {
    const all = new Bun.Glob("**").scanSync({ cwd: root, dot: true })
    return [...all].filter(
      path => !/(^|\/)(node_modules|dist|\.agent|coverage|\.git)\/|^\.git$|\.log$/.test(path),
    )
  }
  const argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
  const listing = Bun.spawnSync(argv, { cwd: root })
  if (listing.exitCode !== 0) throw new Error(`git ls-files: ${listing.stderr.toString()}`)
  return listing.stdout.toString().split("\0").filter(Boolean)
}

export function tidyFile(path: string, text: string): TidyFile {
  return { path, text, lines: text.replace(/\n$/, "").split("\n") }
}

/** Null for a file that was deleted and not committed yet, and for one that is not text. */
function readText(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8")
    return text.includes("\0") ? null : text
  } catch {
    // Listed by git and gone from the disk: the file is being deleted right now.
    return null
  }
}

export const isSource = (file: TidyFile): boolean => /^src\/.*\.ts$/.test(file.path)
export const isTest = (file: TidyFile): boolean => /^test\/.*\.ts$/.test(file.path)
export const isTypeScript = (file: TidyFile): boolean => /^(src|test|bench|scripts)\/.*\.ts$/.test(file.path)

const parsed = new WeakMap<TidyFile, ts.SourceFile>()

export function parse(file: TidyFile): ts.SourceFile {
  const known = parsed.get(file)
  if (known !== undefined) return known
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true)
  parsed.set(file, source)
  return source
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node)
  node.forEachChild(child => visit(child, see))
}

/** Counted from 1, as editors do. */
export function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1
}

export function show(findings: readonly Finding[]): string[] {
  return findings.map(({ path, line, message }) => `${path}:${line} ${message}`)
}
