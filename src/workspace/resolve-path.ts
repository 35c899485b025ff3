import { lstatSync, readlinkSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"
import { pathFromBytes, systemPath } from "../base/path-bytes.ts"
import { outsideWorkspace } from "./failures.ts"

export interface ResolvedPath {
  /** Absolute, without symlinks as far as things exist. */
  readonly real: string
  readonly exists: boolean
  /** How many were followed. */
  readonly symlinks: number
}

/** Kernels give up after this many symlinks too. */
const symlinksMax = 40

/**
 * Follows a path by hand, also to where nothing is: a symlink to a missing place outside leads outside, and saying
 * "missing" would tell what is there and what is not.
 */
export function resolvePath(root: string, relative: string): ResolvedPath {
  let real = root
  let exists = true
  let symlinks = 0
  const names = namesOf(relative).reverse()
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === "..") {
      real = real.slice(0, Math.max(1, real.lastIndexOf("/")))
      continue
    }
    const next = real === "/" ? `/${name}` : `${real}/${name}`
    const target = exists ? symlinkTarget(next) : null
    if (typeof target === "string") {
      symlinks += 1
      if (symlinks > symlinksMax) throw outsideWorkspace(relative)
      if (target.startsWith("/")) real = "/"
      names.push(...namesOf(target).reverse())
      continue
    }
    real = next
    if (target === missing) exists = false
  }
  return { real, exists, symlinks }
}

const missing = Symbol("missing")

function namesOf(path: string): string[] {
  return path.split("/").filter(name => name !== "" && name !== ".")
}

/** Null for anything that is there and is no symlink. */
function symlinkTarget(path: string): string | typeof missing | null {
  try {
    const stat = lstatSync(systemPath(path), { throwIfNoEntry: false })
    if (stat === undefined) return missing
    return stat.isSymbolicLink()
      ? pathFromBytes(readlinkSync(systemPath(path), { encoding: "buffer" }))
      : null
  } catch (error) {
    const code = errnoOf(error)
    // What cannot be looked at is as good as not there: it is not followed any further.
    if (code !== null) return missing
    throw error
  }
}
