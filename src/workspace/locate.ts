import { lstatSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

/**
 * Returns the root of the workspace that `start` is in: the nearest parent with `.agent/` that is not above the git top
 * level, else the git top level, else the directory itself.
 */
export function locateWorkspace(start: string): string {
  let gitTop: string | null = null
  for (const directory of withParents(resolve(start))) {
    if (isDirectory(join(directory, ".agent"))) return directory
    if (exists(join(directory, ".git"))) {
      gitTop = directory
      break
    }
  }
  return gitTop ?? resolve(start)
}

/**
 * Returns why a directory is too broad for a workspace, null when it is not: acode reads, copies and compares all of a
 * workspace, and a confined command may write in it. Both paths are real paths.
 */
export function tooBroad(root: string, home: string): string | null {
  if (root === "/") return "it is the whole disk"
  if (root === home || homeParents.includes(dirname(root)) || root === "/root")
    return "it is a home directory, and everything in it would count as the project"
  if (home.startsWith(`${root}/`)) return "your home directory lies in it"
  const system = systemTrees.some(path => root === path || root.startsWith(`${path}/`))
  return system || systemDirectories.includes(root) ? "it belongs to the system" : null
}

const homeParents = ["/home", "/Users"]
const systemTrees = "/bin /boot /dev /etc /lib /lib32 /lib64 /proc /run /sbin /sys /System".split(" ")
/** System directories below which people also keep projects, in directories of their own. */
const systemDirectories = (
  "/home /Users /Library /nix /nix/store /opt /tmp /usr /usr/bin /usr/include /usr/lib /usr/libexec /usr/local " +
  "/usr/local/bin /usr/local/lib /usr/local/share /usr/sbin /usr/share /usr/src /var /var/cache /var/lib /var/log " +
  "/var/spool /var/tmp"
).split(" ")

function* withParents(directory: string): Generator<string> {
  for (let current = directory; ; current = dirname(current)) {
    yield current
    if (dirname(current) === current) return
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
