import { closeSync, statSync } from "node:fs"
import { openMemoryFile } from "../../base/libc.ts"
import { spawn } from "../../base/spawn.ts"
import type { SandboxProbe } from "../contract.ts"
import { hintFor } from "../machine-hint.ts"
import { findControlGroups } from "../process/cgroup.ts"
import { buildSeccompFilter, filterArchitecture } from "../process/seccomp.ts"
import { isWithin } from "../tree/paths.ts"
import { readSystemView } from "../view/system-view.ts"

/** The directories in which distributions install it. PATH is not used: it may name the workspace first. */
const programDirectories = [
  "/usr/bin",
  "/usr/local/bin",
  "/bin",
  "/run/current-system/sw/bin",
  "/usr/sbin",
] as const

/** Bubblewrap itself, or null. Nothing inside the workspace is ever taken for it. */
export function findBwrap(
  workspaceRoot: string,
  directories: readonly string[] = programDirectories,
): string | null {
  const candidates = directories.filter(path => !isWithin(path, workspaceRoot)).map(path => `${path}/bwrap`)
  return candidates.find(path => statSync(path, { throwIfNoEntry: false })?.isFile() === true) ?? null
}

/**
 * Tries the whole confinement on a program that does nothing. That bubblewrap is installed says little: user
 * namespaces may be off, `/proc` masked, or a profile in the way.
 */
export async function probeBwrap(program: string | null): Promise<SandboxProbe> {
  const controls = findControlGroups().controls
  const features = { processesGroup: controls.has("processes"), memoryGroup: controls.has("memory") }
  if (process.platform !== "linux" || filterArchitecture(process.arch) === null)
    return without("bubblewrap confines on Linux only, on x64 and arm64", "use a Linux machine", features)
  if (program === null)
    return without(
      "bubblewrap is not installed",
      "apt-get install bubblewrap, or your system's equivalent",
      features,
    )
  // Before 0.8 bubblewrap cannot forbid new user namespaces, which the filter does all the same; before 0.7 it cannot
  // limit what is written to memory.
  for (const options of [
    { disableUserNamespaces: true, limitsScratch: true },
    { disableUserNamespaces: false, limitsScratch: true },
    { disableUserNamespaces: false, limitsScratch: false },
  ])
    if ((await trial(program, { ...options, seccomp: true })) === null)
      return working({ ...features, ...options, seccomp: true })
  const least = { disableUserNamespaces: false, limitsScratch: false, seccomp: false }
  const unfiltered = await trial(program, least)
  if (unfiltered === null)
    return without("the kernel does not take system call filters", "use a kernel with seccomp", features)
  return without(reasonOf(unfiltered), hintFor(unfiltered), features)
}

function working(features: Readonly<Record<string, boolean>>): SandboxProbe {
  return { kind: "bwrap", reason: null, hint: null, features }
}

function without(reason: string, hint: string, features: Readonly<Record<string, boolean>>): SandboxProbe {
  return {
    kind: "none",
    reason,
    hint,
    features: { ...features, seccomp: false, disableUserNamespaces: false, limitsScratch: false },
  }
}

interface TrialOptions {
  readonly disableUserNamespaces: boolean
  readonly limitsScratch: boolean
  readonly seccomp: boolean
}

/** Null when it worked, else what bubblewrap message. */
async function trial(program: string, options: TrialOptions): Promise<string | null> {
  const architecture = filterArchitecture(process.arch)
  const filter =
    options.seccomp && architecture !== null
      ? openMemoryFile("seccomp", buildSeccompFilter({ architecture, unixSockets: "deny" }))
      : null
  try {
    const child = spawn({
      argv: [program, ...trialArguments(options), "--", program, "--version"],
      env: {},
      cwd: "/",
      stdin: "null",
      stdout: "null",
      stderr: "pipe",
      extra: filter === null ? [] : [filter],
    })
    const message = new Response(child.stderr).text()
    const exit = await child.exited
    const text = await message
    child.close()
    return exit.exitCode === 0 ? null : text.trim() || `it ended with ${exit.exitCode ?? exit.signal}`
  } finally {
    if (filter !== null) closeSync(filter)
  }
}

function trialArguments(options: TrialOptions): readonly string[] {
  const system = readSystemView()
  return [
    "--unshare-all",
    "--unshare-user",
    ...(options.disableUserNamespaces ? ["--disable-userns"] : []),
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
    ...["--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"],
    ...system.directories.flatMap(path => ["--ro-bind", path, path]),
    ...system.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...["--remount-ro", "/proc", "--perms", "0700"],
    ...(options.limitsScratch ? ["--size", "4096"] : []),
    ...["--tmpfs", "/tmp"],
    ...(options.seccomp ? ["--seccomp", "3"] : []),
  ]
}

function reasonOf(message: string): string {
  return `bubblewrap cannot confine here: ${message.replace(/^bwrap: /, "").split("\n")[0] ?? message}`
}
