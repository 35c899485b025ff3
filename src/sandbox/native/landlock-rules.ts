import { unreachable } from "../../base/assert.ts"
import { Failure } from "../../domain/failure.ts"
import { isWithin } from "../tree/paths.ts"
import { type Mount, mountAt } from "../view/mounts.ts"

/** A grant of Landlock: it holds for a path and for everything below it. */
export interface LandlockRule {
  readonly path: string
  readonly access: "read" | "write" | "list"
}

interface Host {
  /** The names in a directory; empty where it cannot be read. */
  readonly list: (path: string) => readonly string[]
  readonly kindAt: (path: string) => "directory" | "file" | "link" | null
}

/**
 * Translates what a command would see into grants. Landlock can only allow, and a grant flows down the tree: so a
 * directory with something protected in it is granted name by name. It may be listed, and nothing new can be made
 * in it.
 */
export function landlockRules(mounts: readonly Mount[], host: Host): readonly LandlockRule[] {
  const rules: LandlockRule[] = []
  const grant = (path: string, access: "read" | "write"): void => {
    if (rules.length > rulesMax) throw tooManyRules(path)
    const kind = host.kindAt(path)
    if (kind === null || kind === "link") return
    const isMixed = mounts.some(
      mount => mount.path !== path && isWithin(mount.path, path) && differs(mount, path),
    )
    if (kind === "file" || !isMixed) {
      rules.push({ path, access })
      return
    }
    rules.push({ path, access: "list" })
    for (const name of host.list(path)) {
      const below = `${path === "/" ? "" : path}/${name}`
      // What has a mount of its own is decided by that.
      if (!mounts.some(mount => mount.path === below)) grant(below, access)
    }
  }
  const differs = (mount: Mount, above: string) =>
    mount.kind !== "link" && accessOf(mountAt(mounts, mount.path)) !== accessOf(mountAt(mounts, above))
  for (const path of new Set(mounts.map(each => each.path))) {
    const access = accessOf(mountAt(mounts, path))
    if (access !== null && mounts.some(mount => mount.path === path && mount.kind !== "link"))
      grant(path, access)
  }
  return rules
}

function accessOf(mount: Mount | null): "read" | "write" | null {
  switch (mount?.kind) {
    case "readOnly":
      return "read"
    case "writable":
      return "write"
    case "hiddenFile":
    case "scratch":
    case "link":
    case "frozen":
    case undefined:
      return null
    default:
      return unreachable(mount)
  }
}

/** The rights of an access, as Landlock counts them; of a file only some exist. */
export function accessBits(access: LandlockRule["access"], isFile: boolean): number {
  const bits = {
    read: executable | readFile | listDirectory,
    write: everyRight & ~devices,
    list: listDirectory,
  }
  return isFile ? bits[access] & fileRights : bits[access]
}

const [executable, writeFile, readFile, listDirectory] = [1, 2, 4, 8]
const devices = 64 | 2048
const truncate = 16_384
/** All rights of the third version of Landlock, the first that holds truncation. */
export const everyRight = 0x7fff
const fileRights = executable | writeFile | readFile | truncate
const rulesMax = 5_000

function tooManyRules(path: string): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: `what may be written would have to be granted one by one, in more than ${rulesMax} places`,
    where: path,
    hint: "`acode doctor` says what stronger confinement needs here",
  })
}
