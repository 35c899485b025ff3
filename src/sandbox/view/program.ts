import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  statSync,
} from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { Failure } from "../../domain/failure.ts"
import { isShown, type Mount } from "./mounts.ts"

/**
 * Refuses a program that the host has and the sandbox does not show, and says which directory to add. A program that
 * is nowhere passes: that it does not exist is for the runner to say.
 */
export function requireVisibleProgram(
  mounts: readonly Mount[],
  argv: readonly string[],
  cwd: string,
  searchPath: string,
): void {
  const hidden = hiddenProgram(mounts, argv[0] ?? "", cwd, searchPath)
  if (hidden === null) return
  throw new Failure({
    kind: "confinement",
    code: "ACODE-EXE-011",
    message: `${hidden.name} is installed where a confined command cannot see it`,
    where: hidden.path,
    hint: `add ${dirname(hidden.path)} to execution.readable_paths, or install it in a system directory`,
  })
}

interface Hidden {
  readonly name: string
  readonly path: string
}

function hiddenProgram(
  mounts: readonly Mount[],
  name: string,
  cwd: string,
  searchPath: string,
): Hidden | null {
  const found = candidatesOf(name, cwd, searchPath).filter(isProgram)
  const first = found[0]
  if (first === undefined) return null
  const reached = found.map(path => ({ path, missing: firstHidden(mounts, path) }))
  const visible = reached.find(({ missing }) => missing === null)
  if (visible === undefined) return { name, path: reached[0]?.missing ?? first }
  return hiddenInterpreter(mounts, visible.path, cwd, searchPath)
}

/** A script needs its interpreter too: `#!/path/to/python`, or `#!/usr/bin/env node` found by name. */
function hiddenInterpreter(
  mounts: readonly Mount[],
  script: string,
  cwd: string,
  searchPath: string,
): Hidden | null {
  const line = /^#!\s*(\S+)(?:\s+(?:-S\s+)?([^\s=]+))?\s/.exec(beginningOf(script))
  const interpreter = line?.[1]
  if (interpreter === undefined || !isAbsolute(interpreter) || !isProgram(interpreter)) return null
  const missing = firstHidden(mounts, interpreter)
  if (missing !== null) return { name: interpreter, path: missing }
  const byName = interpreter.endsWith("/env") ? line?.[2] : undefined
  if (byName === undefined || byName.startsWith("-")) return null
  const found = candidatesOf(byName, cwd, searchPath).filter(isProgram)
  const reached = found.map(path => firstHidden(mounts, path))
  return found.length === 0 || reached.includes(null) ? null : { name: byName, path: reached[0] ?? byName }
}

function candidatesOf(name: string, cwd: string, searchPath: string): readonly string[] {
  if (name.includes("/")) return [resolve(cwd, name)]
  return searchPath.split(":").map(directory => join(resolve(cwd, directory), name))
}

/** Follows a path link by link and returns the first place on the way that is not shown; null when all are. */
function firstHidden(mounts: readonly Mount[], path: string): string | null {
  let done = "/"
  let rest = path.split("/").filter(Boolean)
  for (let links = 0; rest.length > 0; ) {
    const [name = "", ...after] = rest
    const next = join(done, name)
    rest = after
    const target = linkTarget(next)
    if (target === null) {
      done = next
      continue
    }
    if (mounts.some(mount => mount.kind === "link" && mount.path === next) || isShown(mounts, next)) {
      if (++links > linksMax) return next
      rest = [...target.split("/").filter(Boolean), ...rest]
      if (isAbsolute(target)) done = "/"
    } else if (rest.length === 0) return next
    else done = next
  }
  return isShown(mounts, done) ? null : done
}

function linkTarget(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    // It vanished or may not be inspected: then it is not a link that can be followed.
    return null
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Not there, or not executable: the search continues.
    return false
  }
}

function beginningOf(path: string): string {
  const bytes = Buffer.alloc(256)
  let fd: number | null = null
  try {
    fd = openSync(path, "r")
    return bytes.toString("latin1", 0, readSync(fd, bytes, 0, bytes.length, 0))
  } catch {
    // A program that can be executed and not read has no first line for us.
    return ""
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

const linksMax = 40
