import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The beginning of a command line that runs the rest where a directory cannot be written, as on a read-only disk. */
export function readOnlyMount(directory: string): readonly string[] {
  return inMounts(`mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"`, directory)
}

/** The same with an empty disk of so many bytes at the directory, which is gone afterwards. */
export function smallDisk(directory: string, bytes: number): readonly string[] {
  return inMounts(`mount -t tmpfs -o size=${bytes} tmpfs "$0"`, directory)
}

/** The same with the directory as a mount of its own, of the same file system, as a container has it. */
export function ownMount(directory: string): readonly string[] {
  return inMounts(`mount --bind "$0" "$0"`, directory)
}

/** A shell script that does something with `$0`, and then the rest of the line. */
function inMounts(script: string, directory: string): readonly string[] {
  const asUser = process.getuid?.() === 0 ? [] : ["--map-root-user"]
  return ["unshare", "--mount", ...asUser, "sh", "-c", `${script} && exec "$@"`, directory]
}

/** Returns why mounts cannot be made here; null when they can. */
export function mountSkip(): string | null {
  if (Bun.which("unshare") === null) return "unshare is not installed"
  const directory = mkdtempSync(join(tmpdir(), "acode-"))
  try {
    const ways = [readOnlyMount(directory), smallDisk(directory, 1_000_000)]
    const works = ways.every(way => Bun.spawnSync([...way, "true"]).exitCode === 0)
    return works ? null : "no mount namespace can be made here"
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
