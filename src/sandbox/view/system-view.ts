import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs"
import type { Clock } from "../../base/clock.ts"
import { isWithin } from "../tree/paths.ts"

/** The part of the system that a confined command sees: directories bound read-only, and the links between them. */
export interface SystemView {
  readonly directories: readonly string[]
  readonly links: readonly { readonly path: string; readonly target: string }[]
}

/** The system directories of every distribution; never `/` as a whole, or one forgotten directory would be open. */
const candidates = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/opt",
  "/nix",
  "/gnu",
  "/snap",
  "/home/linuxbrew/.linuxbrew",
  // Where some distributions keep what others have in /usr/local, /opt and /etc/ssl.
  "/var/usrlocal",
  "/var/opt",
  "/var/lib/ca-certificates",
  // Programs count processors there; the rest of /sys describes the machine and is not shown.
  "/sys/devices/system/cpu",
  "/sys/devices/system/node",
] as const

export function readSystemView(paths: readonly string[] = candidates): SystemView {
  const directories: string[] = []
  const links: { path: string; target: string }[] = []
  for (const path of paths) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) links.push({ path, target: readlinkSync(path) })
    else if (found?.isDirectory()) directories.push(path)
  }
  return { directories, links }
}

/** The same, remembered for a moment: system directories do not come and go between two commands. */
export function rememberSystemView(clock: Clock, momentMs: number): () => SystemView {
  let known: { readonly view: SystemView; readonly readAtMs: number } | null = null
  return () => {
    const readAtMs = clock.monotonicMs()
    if (known === null || readAtMs - known.readAtMs >= momentMs) known = { view: readSystemView(), readAtMs }
    return known.view
  }
}

/**
 * Finds what root owns and others may not read. Root inside has no capabilities but is still the owner, so without a
 * mask it would read `/etc/shadow`. A person's own account is refused by the kernel and needs no masks.
 */
export function findPrivateEntries(directory: string, depthMax: number): PrivateEntries {
  const entries: PrivateEntry[] = []
  const directories = new Map<string, number>()
  const open = [{ path: directory, depth: 1 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    directories.set(next.path, changeTime(next.path))
    for (const entry of listed(next.path)) {
      const path = `${next.path}/${entry.name}`
      if (entry.isSymbolicLink()) continue
      const isDirectory = entry.isDirectory()
      const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0
      const needed = isDirectory ? readAndEnter : read
      if ((mode & needed) !== needed) entries.push({ path, kind: isDirectory ? "directory" : "file" })
      else if (isDirectory && next.depth < depthMax) open.push({ path, depth: next.depth + 1 })
    }
  }
  return { entries, directories }
}

export interface Remembrance {
  /** The time for which it is valid without a check whether a directory has changed. */
  readonly blindMs: number
  /** The time for which it is valid at all: a file whose mode alone changes does not change its directory. */
  readonly ageMsMax: number
}

/** The same, remembered from command to command. */
export function rememberPrivateEntries(clock: Clock, { blindMs, ageMsMax }: Remembrance) {
  const remembered = new Map<string, Remembered>()
  return (directory: string, depthMax: number): readonly PrivateEntry[] => {
    const nowMs = clock.monotonicMs()
    const known = remembered.get(directory)
    if (known !== undefined && nowMs - known.lookedAtMs < blindMs) return known.found.entries
    const isStillTrue = known !== undefined && nowMs - known.foundAtMs < ageMsMax && isUnchanged(known.found)
    const found = isStillTrue ? known.found : findPrivateEntries(directory, depthMax)
    const foundAtMs = isStillTrue ? known.foundAtMs : nowMs
    remembered.set(directory, { found, foundAtMs, lookedAtMs: nowMs })
    return found.entries
  }
}

interface Remembered {
  readonly found: PrivateEntries
  readonly foundAtMs: number
  readonly lookedAtMs: number
}

export interface PrivateEntries {
  readonly entries: readonly PrivateEntry[]
  /** Every directory that was listed, with the time of its last change. */
  readonly directories: ReadonlyMap<string, number>
}

function isUnchanged(known: PrivateEntries): boolean {
  for (const [path, changedMs] of known.directories) if (changeTime(path) !== changedMs) return false
  return true
}

function changeTime(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0
}

export interface PrivateEntry {
  readonly path: string
  readonly kind: "file" | "directory"
}

const read = 0o004
const readAndEnter = 0o005

/** Returns the target of `/etc/resolv.conf`, when it is a link to a place that is not shown otherwise. */
export function hiddenResolverFile(shown: readonly string[]): string | null {
  try {
    const path = realpathSync("/etc/resolv.conf")
    return shown.some(directory => isWithin(path, directory)) ? null : path
  } catch {
    // A machine without name resolution; the command will say so itself.
    return null
  }
}

function listed(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // Removed during the search: a missing file needs no mask.
    return []
  }
}
