import { messageOf } from "../../base/assert.ts"
import { spawn } from "../../base/spawn.ts"
import { unlimited } from "../../domain/command.ts"
import type { SandboxProbe } from "../contract.ts"
import { hintFor } from "../machine-hint.ts"
import { findControlGroups } from "../process/cgroup.ts"
import { createGroup } from "../process/limits.ts"
import { type Architecture, buildSeccompFilter, filterArchitecture } from "../process/seccomp.ts"
import type { Mount } from "../view/mounts.ts"
import { readSystemView } from "../view/system-view.ts"
import { type CallList, encodeCallList } from "./call-list.ts"
import { confinementCalls } from "./confinement-calls.ts"
import type { Launcher } from "./launchers.ts"
import { hostProfile, startOf } from "./native.ts"
import { errorName, launcherTree } from "./tree.ts"

/** Tries the whole confinement on a program that does nothing. */
export async function probeNative(launcher: Launcher): Promise<SandboxProbe> {
  const groups = findControlGroups()
  const features = {
    processesGroup: groups.controls.has("processes"),
    memoryGroup: groups.controls.has("memory"),
    disableUserNamespaces: true,
    limitsScratch: true,
    seccomp: true,
  }
  let problem = await trial(launcher, true)
  const isFresh = problem === null
  // Containers mask parts of /proc, and the kernel then refuses a new one that would show them.
  if (problem !== null && /mount \/proc \(/.test(problem)) problem = await trial(launcher, false)
  if (problem === null)
    return { kind: launcher.kind, reason: null, hint: null, features: { ...features, freshProc: isFresh } }
  return without(launcher, `the launcher could not ${problem}`, hintFor(problem))
}

function without(launcher: Launcher, reason: string, hint: string): SandboxProbe {
  const program = launcher.kind === "perl" ? "perl" : "acode's launcher"
  return { kind: "none", reason: `${program} cannot confine here: ${reason}`, hint, features: {} }
}

/** Returns null when it worked, else what failed. */
function trial(launcher: Launcher, freshProc: boolean): Promise<string | null> {
  return trialOf(launcher, architecture =>
    confinementCalls({
      ...hostProfile(),
      mounts: trialMounts(),
      argv: ["/bin/sh", "-c", "exit 0"],
      environment: {},
      workspaceRoot: "/tmp",
      cwd: "/tmp",
      network: "none",
      layers: null,
      limits: { processesMax: null, fileBytesMax: null },
      maskFile: "/dev/null",
      filter: buildSeccompFilter({ architecture, unixSockets: "deny" }),
      groupDoors: [],
      freshProc,
    }),
  )
}

/** Executes a list whose command does nothing; returns null when it worked, else what failed. */
export async function trialOf(
  launcher: Launcher,
  listFor: (architecture: Architecture) => CallList,
): Promise<string | null> {
  const architecture = filterArchitecture(process.arch)
  if (process.platform !== "linux" || architecture === null)
    return `confine on ${process.platform} ${process.arch}, only on Linux on x64 and arm64`
  try {
    const list = listFor(architecture)
    const start = startOf(launcher, encodeCallList(list, architecture))
    try {
      return await resultOf(start, list)
    } finally {
      start.close()
    }
  } catch (error) {
    return `start: ${messageOf(error)}`
  }
}

async function resultOf(start: ReturnType<typeof startOf>, list: CallList): Promise<string | null> {
  const child = spawn({
    argv: start.argv,
    env: {},
    cwd: "/",
    stdin: "null",
    stdout: "null",
    stderr: "null",
    extra: start.extra,
  })
  const tree = launcherTree({
    ...start.attach(child),
    list,
    limits: unlimited,
    group: createGroup(unlimited, findControlGroups(), 0),
    onSetupFailed: () => undefined,
  })
  const exit = await child.exited
  await tree.settle()
  const failure = tree.failure()
  await tree.dispose()
  child.close()
  if (failure !== null) return `${failure.call?.what ?? "start"} (${errorName(failure.errno)})`
  return exit.exitCode === 0 ? null : `finish: it ended with ${exit.exitCode ?? exit.signal}`
}

function trialMounts(): readonly Mount[] {
  const system = readSystemView()
  return [
    ...system.directories.map((path): Mount => ({ kind: "readOnly", path })),
    ...system.links.map(({ path, target }): Mount => ({ kind: "link", path, target })),
    { kind: "scratch", path: "/tmp", mode: 0o700 },
    { kind: "frozen", path: "/tmp" },
  ]
}
