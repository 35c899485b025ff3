import { compilePath, matchesPath, type PathPattern } from "../../base/glob.ts"
import type { GlobMatches, GlobRequest } from "../contract.ts"
import { fileFailure, outsideWorkspace } from "../failures.ts"
import { pinDirectory } from "../files/place.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import { walkFiles } from "../tree/walk.ts"

/** Finds files by name. Ignored files, `.git` and `.agent` are not looked at and symlinks not followed. */
export function globFiles(
  root: WorkspaceRoot,
  request: GlobRequest,
  isHidden: (path: string) => boolean,
): GlobMatches {
  const matches = compileGlob(request.pattern)
  using directory = pinDirectory(root, request.path, "list")
  const skip = directory.relative === "." ? 0 : directory.relative.length + 1
  const paths: string[] = []
  for (const path of walkFiles(root.path, directory.relative, isHidden)) {
    if (!matches(path.slice(skip))) continue
    if (paths.length >= request.matchesMax) return { paths, truncated: true }
    paths.push(path)
  }
  return { paths, truncated: false }
}

/** `*`, `?`, `[…]`, `**` and `{a,b}`. The whole path has to match. */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern === "" || pattern.includes("\0"))
    throw fileFailure("malformed", pattern, "is no pattern for names")
  if (pattern.startsWith("/") || /(^|[/{,])\.\.([/},]|$)/.test(pattern)) throw outsideWorkspace(pattern)
  const patterns = expandBraces(pattern.replace(/^(\.\/+)+/, "")).map(alternative => {
    const compiled = compilePath(alternative)
    if (compiled === null)
      throw fileFailure("malformed", pattern, "is no pattern for names: a bracket is not closed")
    return compiled
  })
  return path => matchesAny(patterns, path)
}

/** A pattern without a slash is about the name, wherever the file is. */
export function compileNameGlob(pattern: string): (path: string) => boolean {
  return compileGlob(pattern.includes("/") ? pattern : `**/${pattern}`)
}

function matchesAny(patterns: readonly PathPattern[], path: string): boolean {
  const names = path.split("/")
  return patterns.some(pattern => matchesPath(pattern, names))
}

const alternativesMax = 1000

/** `a{b,c}d` is `abd` and `acd`; braces without a comma and escaped ones are plain characters. */
function expandBraces(pattern: string): string[] {
  let open = [pattern]
  const done: string[] = []
  while (open.length > 0) {
    if (open.length + done.length > alternativesMax)
      throw fileFailure("malformed", pattern, `stands for more than ${alternativesMax} patterns`)
    open = open.flatMap(text => {
      const group = firstGroup(text)
      if (group !== null)
        return group.options.map(option => text.slice(0, group.start) + option + text.slice(group.end))
      done.push(text)
      return []
    })
  }
  return done
}

function firstGroup(text: string): { start: number; end: number; options: string[] } | null {
  for (let start = 0; start < text.length; start++) {
    if (text[start] === "\\") start += 1
    else if (text[start] === "{") {
      const group = groupAt(text, start)
      if (group !== null) return { start, ...group }
    }
  }
  return null
}

function groupAt(text: string, start: number): { end: number; options: string[] } | null {
  const options: string[] = []
  let depth = 0
  let from = start + 1
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === "\\") at += 1
    else if (character === "{") depth += 1
    else if (character === "}") depth -= 1
    if ((character === "," && depth === 1) || depth === 0) {
      options.push(text.slice(from, at))
      from = at + 1
    }
    if (depth === 0) return options.length > 1 ? { end: at + 1, options } : null
  }
  return null
}
