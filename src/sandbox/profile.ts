import { unreachable } from "../base/assert.ts"
import type { NetworkChoice } from "../domain/command.ts"
import type { Mount } from "./mounts.ts"

/** Everything bubblewrap is told, as data. */
export interface Profile {
  readonly mounts: readonly Mount[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  readonly network: NetworkChoice
  /** Bubblewrap before 0.8 cannot forbid nested user namespaces; the filter does it then alone. */
  readonly disableUserNamespaces: boolean
  /** How much each place to write in memory may hold; null for a bubblewrap before 0.7, which cannot limit it. */
  readonly scratchBytesMax: number | null
  /** An empty file nobody may read; bound over files that are hidden. */
  readonly maskFile: string
  readonly descriptors: ProfileDescriptors
}

/** The numbers as the child sees them. */
export interface ProfileDescriptors {
  readonly seccomp: number
  readonly status: number
  /** Where it waits before it starts the program, when it has to. */
  readonly block: number | null
}

/**
 * The arguments of bubblewrap before `--`. They are handed over through a descriptor: on the command line the whole
 * host could read the environment of the command, and there could be too many of them.
 */
export function profileArguments(profile: Profile): readonly string[] {
  return [
    "--unshare-all",
    "--unshare-user",
    ...(profile.network === "host" ? ["--share-net"] : []),
    ...(profile.disableUserNamespaces ? ["--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    ...kernelMounts,
    ...profile.mounts.flatMap(mount => mountArguments(mount, profile)),
    "--chdir",
    profile.cwd,
    "--clearenv",
    ...Object.entries(profile.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    "--seccomp",
    String(profile.descriptors.seccomp),
    "--json-status-fd",
    String(profile.descriptors.status),
    ...(profile.descriptors.block === null ? [] : ["--block-fd", String(profile.descriptors.block)]),
  ]
}

/**
 * What bubblewrap makes itself, and what it forgets: root could write `/proc/sys/kernel/core_pattern`, and everybody
 * `/proc/self/oom_score_adj`, by which acode would be ended before its command where memory runs out.
 */
const kernelMounts = [
  ...["--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"],
  ...["--remount-ro", "/proc"],
] as const

export function encodeArguments(values: readonly string[]): Uint8Array {
  return Buffer.from(values.map(value => `${value}\0`).join(""))
}

function mountArguments(
  mount: Mount,
  { maskFile, scratchBytesMax }: Pick<Profile, "maskFile" | "scratchBytesMax">,
): readonly string[] {
  switch (mount.kind) {
    case "readOnly":
      return ["--ro-bind", mount.path, mount.path]
    case "writable":
      return ["--bind", mount.path, mount.path]
    case "hiddenFile":
      return ["--ro-bind", maskFile, mount.path]
    case "scratch":
      return [
        ...["--perms", mount.mode.toString(8).padStart(4, "0")],
        ...(scratchBytesMax === null ? [] : ["--size", String(isMask(mount) ? maskBytes : scratchBytesMax)]),
        ...["--tmpfs", mount.path],
      ]
    case "link":
      return ["--symlink", mount.target, mount.path]
    case "frozen":
      return ["--remount-ro", mount.path]
    default:
      return unreachable(mount)
  }
}

/** Nothing is meant to be written there; its owner could make it writable all the same. */
function isMask({ mode }: Extract<Mount, { kind: "scratch" }>): boolean {
  return (mode & 0o222) === 0
}

const maskBytes = 4096
