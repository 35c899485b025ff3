import { closeSync, constants, openSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { isAbsolute, relative, resolve, sep } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { quotedPath, shownPath } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { PathGuard } from "../contract.ts"
import { outsideWorkspace } from "../failures.ts"
import { type OpenRefusal, openBeneath, resolvePath } from "./openat2.ts"
import { checkTypedPath } from "./typed-path.ts"

/** A path that is really inside the workspace, absolute and relative. */
export interface ConfinedPath {
  readonly absolute: string
  /** The path to display; `.` for the root itself. */
  readonly relative: string
}

/** The directory tree that acode may touch, and the only source of real paths in it. */
export class WorkspaceRoot implements Disposable {
  /** The root with every symlink resolved. */
  readonly path: string
  /** The open root: paths that are resolved below it stay below it. */
  readonly fd: number

  constructor(
    directory: string,
    readonly guard: PathGuard = () => undefined,
  ) {
    this.path = realRoot(directory)
    this.fd = openSync(this.path, constants.O_RDONLY | constants.O_DIRECTORY)
  }

  /**
   * Checks a path of a tool as text and returns it relative to the root. The path need not exist; the kernel decides
   * when it is opened.
   */
  relativeOf(typed: string): string {
    const checked = checkTypedPath(typed, this.path)
    if (!isAbsolute(checked)) return checked
    // An absolute path may reach the workspace by another of its names.
    const inside = relative(this.path, resolvePath("/", checked).real)
    if (leavesRoot(inside)) throw outsideWorkspace(typed)
    return inside || "."
  }

  /** Returns the path from the root to a real path; null when it is outside. */
  pathInside(realPath: string): string | null {
    const inside = relative(this.path, realPath)
    return leavesRoot(inside) ? null : inside || "."
  }

  /** Resolves an existing directory, absolute or relative, following symlinks that stay inside. */
  directory(typed: string): ConfinedPath {
    if (typed.includes("\0")) throw badDirectory(typed, "it contains a NUL byte")
    const wanted = this.directoryRelativeOf(typed)
    const opened = openBeneath(this.fd, wanted, constants.O_RDONLY | constants.O_DIRECTORY, 0)
    if (opened === null) return this.directoryByRealPath(typed, wanted)
    if (!("fd" in opened)) throw refused(typed, opened.refusal)
    try {
      return this.confined(readlinkSync(`/proc/self/fd/${opened.fd}`))
    } finally {
      closeSync(opened.fd)
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd)
  }

  /** Accepts an absolute path that names something inside; any other path is passed to the kernel unchanged. */
  private directoryRelativeOf(typed: string): string {
    if (!isAbsolute(typed)) return typed === "" ? "." : typed
    const inside = relative(this.path, typed)
    if (!leavesRoot(inside)) return inside || "."
    const real = realPathOf(typed)
    const fromReal = relative(this.path, real)
    if (leavesRoot(fromReal)) throw outsideWorkspace(typed)
    return fromReal || "."
  }

  private directoryByRealPath(typed: string, wanted: string): ConfinedPath {
    const real = realPathOf(resolve(this.path, wanted), typed)
    if (leavesRoot(relative(this.path, real))) throw outsideWorkspace(typed)
    if (!statSync(real).isDirectory()) throw refused(typed, "notDirectory")
    return this.confined(real)
  }

  private confined(absolute: string): ConfinedPath {
    return { absolute, relative: relative(this.path, absolute) || "." }
  }
}

function realRoot(directory: string): string {
  try {
    const path = realpathSync(directory)
    if (statSync(path).isDirectory()) return path
  } catch (error) {
    if (errnoOf(error) === null) throw error
  }
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-006",
    message: `the workspace ${quotedPath(directory)} is not a directory that can be opened`,
    hint: "give an existing directory with -C",
  })
}

function realPathOf(path: string, typed = path): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const code = errnoOf(error)
    if (code === "ENOENT") throw refused(typed, "missing")
    if (code === "ENOTDIR") throw refused(typed, "notDirectory")
    if (code === "EACCES") throw refused(typed, "denied")
    throw refused(typed, "other")
  }
}

function leavesRoot(relativePath: string): boolean {
  return relativePath === ".." || relativePath.startsWith(`..${sep}`) || isAbsolute(relativePath)
}

const reasons: Readonly<Record<Exclude<OpenRefusal, "escape">, string>> = {
  missing: "it does not exist",
  notDirectory: "it is not a directory",
  denied: "permission denied",
  other: "it cannot be opened",
}

function refused(typed: string, refusal: OpenRefusal): Failure {
  return refusal === "escape" ? outsideWorkspace(typed) : badDirectory(typed, reasons[refusal])
}

function badDirectory(typed: string, why: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-EXE-006",
    message: `the working directory ${quotedPath(typed)} cannot be used: ${why}`,
    where: shownPath(typed),
    hint: "give an existing directory inside the workspace",
  })
}
