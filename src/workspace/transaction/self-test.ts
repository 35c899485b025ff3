import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { pathFromBytes } from "../../base/path-bytes.ts"
import { shownPath } from "../../base/path-names.ts"
import { openBeneath } from "../files/openat2.ts"
import { exchangeNames } from "../files/rename.ts"
import { type OpenDirectory, openPlace } from "./upper.ts"

/**
 * Returns why commands in a workspace cannot be transactions with layers in `directory`, or null when nothing speaks
 * against it but the mount itself, which only the sandbox can try. Finds what would show only at the first write.
 */
export function layerProblem(root: string, directory: string): string | null {
  if (process.platform !== "linux") return "this system has no overlay file system"
  const mounts = mountsOfProcess()
  if (mounts === null) return "the mounts of this system cannot be read"
  using workspace = openPlace(root)
  if (openBeneath(workspace.fd, ".", 0, 0, "never") === null) return "the kernel has no openat2"
  const below = mounts.find(({ at }) => at.startsWith(`${root}/`))
  if (below !== undefined) return `${shownPath(below.at)} is a mount inside the workspace`
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  using layers = openPlace(directory)
  return ownerProblem(root) ?? mountProblem(mounts, workspace, layers) ?? exchangeProblem(directory, layers)
}

/** Layers take only files of this user and its group: any other owner is unknown in the namespace of the mount. */
function ownerProblem(root: string): string | null {
  const { uid, gid, mode } = lstatSync(root)
  const [user, group] = [process.geteuid?.(), process.getegid?.()]
  if (uid !== user) return "the workspace belongs to another user"
  if (gid !== group) return `the workspace belongs to group ${gid} and not to your own, ${group}`
  return (mode & 0o2000) === 0 ? null : "the workspace gives new files its own group (setgid)"
}

interface Mount {
  readonly id: string
  readonly at: string
  readonly fileSystem: string
}

/** The file systems whose times prove who changed what, and on which layers work. */
const fileSystems: ReadonlySet<string> = new Set(["ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs"])

function mountProblem(
  mounts: readonly Mount[],
  workspace: OpenDirectory,
  layers: OpenDirectory,
): string | null {
  const [here, there] = [workspace, layers].map(({ fd }) => mountOf(mounts, fd))
  if (here === undefined || there === undefined) return "the mount of the workspace cannot be found"
  if (here.id !== there.id)
    return `acode keeps its state on another mount (${shownPath(there.at)}) than the workspace (${shownPath(here.at)})`
  return fileSystems.has(here.fileSystem) ? null : `the workspace is on ${here.fileSystem}`
}

function mountOf(mounts: readonly Mount[], fd: number): Mount | undefined {
  const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1]
  return mounts.find(mount => mount.id === id)
}

function mountsOfProcess(): readonly Mount[] | null {
  try {
    return readFileSync("/proc/self/mountinfo", "latin1").split("\n").flatMap(mountIn)
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return null
  }
}

function mountIn(line: string): readonly Mount[] {
  const [before = "", after = ""] = line.split(" - ")
  const [id, , , , at] = before.split(" ")
  const [fileSystem] = after.split(" ")
  if (id === undefined || at === undefined || fileSystem === undefined) return []
  // Spaces, tabs, line ends and backslashes are written in octal.
  const bytes = at.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
  return [{ id, at: pathFromBytes(Buffer.from(bytes, "latin1")), fileSystem }]
}

function exchangeProblem(directory: string, layers: OpenDirectory): string | null {
  const names = ["exchange-a", "exchange-b"] as const
  for (const name of names) writeFileSync(join(directory, name), name, { mode: 0o600 })
  try {
    const [one, other] = names.map(name => ({ directory: layers, name }))
    const isExchanged =
      one !== undefined && other !== undefined && exchangeNames(one, other) && isNamed(directory, names)
    return isExchanged ? null : "the file system cannot exchange two files in one step"
  } finally {
    for (const name of names) rmSync(join(directory, name), { force: true })
  }
}

function isNamed(directory: string, [one, other]: readonly [string, string]): boolean {
  return readFileSync(join(directory, one), "utf8") === other
}
