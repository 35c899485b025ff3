import { posix } from "node:path"
import { isDynamic, marks } from "../shell/script.ts"

/** Where a command would run. */
export interface CommandContext {
  /** The workspace root, absolute. */
  readonly root: string
  readonly home: string | null
  /** Every directory it may run in, absolute; null when that cannot be known. */
  readonly directories: readonly string[] | null
}

/** Every absolute path a word may mean, wildcards left in; null when it is known only when it runs. */
export function resolveWord(word: string, scene: CommandContext): readonly string[] | null {
  if (word.includes(marks.unknown) || word.includes(marks.splitting)) return null
  if (word.includes(marks.home)) {
    if (scene.home === null || !word.startsWith(marks.home)) return null
    return [posix.normalize(scene.home + word.slice(1))]
  }
  if (word.startsWith("/")) return [posix.normalize(word)]
  return scene.directories?.map(directory => posix.resolve(directory, word)) ?? null
}

/** The path below the root, `.` for the root itself, or null outside. */
export function relativeTo(root: string, path: string): string | null {
  const relative = posix.relative(root, path)
  if (relative === "") return "."
  return relative === ".." || relative.startsWith("../") ? null : relative
}

const everything = new RegExp(`^[.*?${marks.wildcard}]+$|${marks.wildcard}[^/]*\\]|^\\[.*\\]`)

/**
 * Why removing this, with all that is below it, can never be meant: it is the workspace, holds the workspace or a home,
 * lies outside, or nobody knows what it is.
 */
export function catastrophe(word: string, scene: CommandContext): string | null {
  const paths = resolveWord(word, scene)
  if (paths === null) return "what it acts on is known only when it runs"
  for (const path of paths) {
    const last = posix.basename(path)
    const target = everything.test(last) ? posix.dirname(path) : path
    const relative = relativeTo(scene.root, target)
    if (relative === ".") return "it acts on the whole workspace"
    if (relative !== null) continue
    if (relativeTo(target, scene.root) !== null) return "it acts on a directory that holds the workspace"
    if (!isScratch(target)) return "it acts on files outside the workspace"
  }
  return isDynamic(word) && word.startsWith(marks.wildcard) && word.length === 1
    ? "it acts on everything"
    : null
}

/** Temporary directories are private inside a sandbox. */
function isScratch(path: string): boolean {
  return /^\/(var\/)?tmp\/[^/]+/.test(path)
}
