import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs"
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path"
import { errnoOf, messageOf } from "../base/assert.ts"
import { sha256Hex } from "../base/canonical.ts"
import type { AppEnvironment } from "./environment.ts"
import type { ConfigCode, ConfigProblem } from "./problem.ts"

/** A configuration file, with its path and its name in messages. */
export interface ConfigSource {
  readonly path: string
  readonly shown: string
  /** The real directory that the file must not leave through a symlink; null for files that the user named or owns. */
  readonly inside: string | null
  /** Set when the file may loosen security without being trusted, so that no other user may be able to write it. */
  readonly isPersonal: boolean
  /** Set when the user named the file, so that its absence is an error. */
  readonly mustExist: boolean
}

type ConfigRead =
  | { readonly kind: "absent" }
  | { readonly kind: "unusable"; readonly problem: ConfigProblem }
  | { readonly kind: "read"; readonly text: string; readonly hash: string; readonly realPath: string }

const configBytesMax = 1024 * 1024

/** Reads a whole file and hashes exactly the bytes that it read. Never hangs, whatever kind of file is at the path. */
export function readConfigFile(source: ConfigSource): ConfigRead {
  const realPath = resolved(source)
  if (typeof realPath !== "string") return realPath
  let descriptor: number
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer that may never come.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY
    descriptor = openSync(realPath, flags)
  } catch (thrown) {
    return unusable(source, "ACODE-CFG-001", unreadable(thrown))
  }
  try {
    return readOpened(source, realPath, descriptor)
  } catch (thrown) {
    return unusable(source, "ACODE-CFG-001", unreadable(thrown))
  } finally {
    closeSync(descriptor)
  }
}

function resolved(source: ConfigSource): string | ConfigRead {
  let isLink: boolean
  try {
    isLink = lstatSync(source.path).isSymbolicLink()
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT" && !source.mustExist) return { kind: "absent" }
    return unusable(source, "ACODE-CFG-001", unreadable(thrown))
  }
  try {
    const realPath = isLink ? realpathSync(source.path) : realPathOf(source.path)
    if (source.inside !== null && !realPath.startsWith(`${source.inside === "/" ? "" : source.inside}/`))
      return unusable(source, "ACODE-CFG-001", "is a symlink that leaves the workspace")
    return realPath
  } catch (thrown) {
    const message = errnoOf(thrown) === "ENOENT" ? "is a symlink to a missing file" : unreadable(thrown)
    return unusable(source, "ACODE-CFG-001", message)
  }
}

/** Resolves the directory only, because a file that another process is replacing has no real path for a moment. */
function realPathOf(path: string): string {
  return join(realpathSync(dirname(path)), basename(path))
}

function readOpened(source: ConfigSource, realPath: string, descriptor: number): ConfigRead {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) return unusable(source, "ACODE-CFG-001", `is ${kindOf(stats)}, not a file`)
  if (source.isPersonal && (stats.mode & 0o002) !== 0)
    return unusable(source, "ACODE-CFG-001", "can be written by every user of this machine; chmod o-w it")
  const bytes = readUpTo(descriptor, configBytesMax + 1)
  if (bytes.length > configBytesMax) return unusable(source, "ACODE-CFG-004", "is larger than 1 MB")
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    return { kind: "read", text, hash: `sha256:${sha256Hex(bytes)}`, realPath }
  } catch {
    // The decoder's message names no position, so it adds nothing.
    return unusable(source, "ACODE-CFG-002", "is not UTF-8 text")
  }
}

function readUpTo(descriptor: number, limit: number): Uint8Array {
  const buffer = new Uint8Array(limit)
  let filled = 0
  while (filled < limit) {
    const count = readSync(descriptor, buffer, filled, limit - filled, null)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a directory"
  if (stats.isFIFO()) return "a FIFO"
  if (stats.isSocket()) return "a socket"
  return "a device"
}

function unreadable(thrown: unknown): string {
  const reasons: Readonly<Record<string, string>> = {
    EACCES: "cannot be read: permission denied",
    EPERM: "cannot be read: permission denied",
    EISDIR: "is a directory, not a file",
    ENOENT: "does not exist",
    ENOTDIR: "cannot be reached: one of its parents is not a directory",
    ELOOP: "is a symlink that points to itself",
    ENXIO: "is a socket, not a file",
  }
  const code = errnoOf(thrown)
  return (code === null ? undefined : reasons[code]) ?? `cannot be read: ${code ?? messageOf(thrown)}`
}

function unusable(source: ConfigSource, code: ConfigCode, message: string): ConfigRead {
  const problem = { code, source: source.shown, line: null, column: null, key: "", message, allowed: null }
  return { kind: "unusable", problem }
}

/** Returns the configuration files, whether they exist or not. `--config` wins over ACODE_CONFIG_FILE. */
export function configSources(
  workspaceRoot: string,
  environment: AppEnvironment,
  configFile: string | null,
): { readonly user: ConfigSource; readonly project: ConfigSource } {
  const userPath = join(environment.xdgConfigHome, "acode", "config.yml")
  const root = realpathSync(workspaceRoot)
  const named = configFile ?? environment.configFile
  const projectPath = named === null ? join(root, ".agent", "config.yml") : resolve(named)
  return {
    user: {
      path: userPath,
      shown: shownPath(userPath, environment.home, "~/"),
      inside: null,
      isPersonal: true,
      mustExist: false,
    },
    project: {
      path: projectPath,
      shown: shownPath(projectPath, root, ""),
      inside: named === null ? root : null,
      isPersonal: false,
      mustExist: named !== null,
    },
  }
}

/** Returns the path relative to `base` for a file below it, which is shorter to read in messages. */
function shownPath(path: string, base: string, prefix: string): string {
  const below = relative(base, path)
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : `${prefix}${below}`
}
