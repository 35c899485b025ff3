import { accessSync, constants, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"

export type ProgramSearch =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing" }
  | { readonly kind: "notExecutable" }

/** The directories a shell searches without a PATH. */
const fallbackPath = "/usr/local/bin:/usr/bin:/bin"

/**
 * Finds a program as execvp would, with one difference: relative and empty entries of PATH are skipped, because they
 * would let the current directory supply the `git` or `ls` that runs.
 */
export function findProgram(name: string, cwd: string, path: string | undefined): ProgramSearch {
  if (name.includes("/")) return examine(resolve(cwd, name))
  let denied: ProgramSearch | null = null
  for (const directory of (path ?? fallbackPath).split(":")) {
    if (!isAbsolute(directory)) continue
    const search = examine(join(directory, name))
    if (search.kind === "found") return search
    if (search.kind === "notExecutable") denied ??= search
  }
  return denied ?? { kind: "missing" }
}

function examine(path: string): ProgramSearch {
  try {
    // Not by way of an exception: most directories of PATH do not have the program, and each would cost one.
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return { kind: "missing" }
    if (!found.isFile()) return { kind: "notExecutable" }
  } catch {
    // Whatever keeps us from seeing it keeps us from running it.
    return { kind: "missing" }
  }
  try {
    accessSync(path, constants.X_OK)
    return { kind: "found", path }
  } catch {
    // It exists, so the only thing access can refuse is the permission to execute.
    return { kind: "notExecutable" }
  }
}
