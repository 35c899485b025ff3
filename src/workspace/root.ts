import { closeSync, constants, openSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { isAbsolute, relative, resolve, sep } from "node:path"
import { errnoOf } from "../base/assert.ts"
import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { type OpenRefusal, openBeneath } from "./openat2.ts"

/** A path that is really inside the workspace, in both spellings. */
export interface ConfinedPath {
  readonly absolute: string
  /** `.` for the root itself. This is the one people are shown. */
  readonly relative: string
}

/** The directory tree acode may touch, and the only way to a real path in it. */
export class WorkspaceRoot implements Disposable {
  /** The root with every symlink resolved. */
  readonly path: string
  private readonly fd: number

  constructor(directory: string) {
    this.path = realRoot(directory)
    this.fd = openSync(this.path, constants.O_RDONLY | constants.O_DIRECTORY)
  }

  /** Resolves an existing directory, absolute or relative, following symlinks that stay inside. */
  directory(typed: string): ConfinedPath {
    if (typed.includes("\0")) throw badDirectory(typed, "it contains a NUL byte")
    const wanted = this.relativeOf(typed)
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

  /** Absolute paths are accepted when they name something inside; anything else is asked of the kernel as it is. */
  private relativeOf(typed: string): string {
    if (!isAbsolute(typed)) return typed === "" ? "." : typed
    const inside = relative(this.path, typed)
    if (!leavesRoot(inside)) return inside || "."
    const real = realPathOf(typed)
    const fromReal = relative(this.path, real)
    if (leavesRoot(fromReal)) throw outside(typed)
    return fromReal || "."
  }

  private directoryByRealPath(typed: string, wanted: string): ConfinedPath {
    const real = realPathOf(resolve(this.path, wanted), typed)
    if (leavesRoot(relative(this.path, real))) throw outside(typed)
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
    message: `the workspace "${printable(directory)}" is not a directory that can be opened`,
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
  return refusal === "escape" ? outside(typed) : badDirectory(typed, reasons[refusal])
}

function outside(typed: string): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-SEC-005",
    message: `"${printable(typed)}" is outside workspace`,
    where: printable(typed),
    hint: "use a path inside the workspace, or choose another workspace with -C",
  })
}

function badDirectory(typed: string, why: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-EXE-006",
    message: `the working directory "${printable(typed)}" cannot be used: ${why}`,
    where: printable(typed),
    hint: "give an existing directory inside the workspace",
  })
}
