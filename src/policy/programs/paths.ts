import { posix } from "node:path"
import { isDynamic, marks } from "../shell/script.ts"

/** The place where a command would run. */
export interface CommandContext {
  /** The workspace root, absolute. */
  readonly root: string
  readonly home: string | null
  /** Every directory in which it may run, absolute; null when that is unknown. */
  readonly directories: readonly string[] | null
}

/**
 * Returns every absolute path that an argument may mean, wildcards included; null when it is known only at run time.
 */
export function resolveWord(word: string, scene: CommandContext): readonly string[] | null {
  if (word.includes(marks.unknown) || word.includes(marks.splitting)) return null
  if (word.includes(marks.home)) {
    if (scene.home === null || !word.startsWith(marks.home)) return null
    return [posix.normalize(scene.home + word.slice(1))]
  }
  if (word.startsWith("/")) return [posix.normalize(word)]
  return scene.directories?.map(directory => posix.resolve(directory, word)) ?? null
}

/** Returns the path below the root, `.` for the root itself, or null outside. */
export function relativeTo(root: string, path: string): string | null {
  const relative = posix.relative(root, path)
  if (relative === "") return "."
  return relative === ".." || relative.startsWith("../") ? null : relative
}

const everything = new RegExp(`^[.*?${marks.wildcard}]+$|${marks.wildcard}[^/]*\\]|^\\[.*\\]`)

/**
 * Returns the reason why removing this path with everything below it is never intended: it is the workspace, contains
 * the workspace or a home, lies outside, or is unknown. Otherwise null.
 */
export function catastrophe(word: string, scene: CommandContext): string | null {
  const paths = resolveWord(word, scene)
  if (paths === null) return "its target is known only when it runs"
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

/** Reports whether the path is a temporary directory, which is private inside a sandbox. */
function isScratch(path: string): boolean {
  return /^\/(var\/)?tmp\/[^/]+/.test(path)
}
