import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { landlockVersion } from "../../base/libc.ts"
import { unlimited } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import {
  type ConfinedTree,
  cleanUpLaunch,
  createConfinedSandbox,
  type PreparedLaunch,
  tagOf,
  watchedTree,
} from "../confined.ts"
import type { CleanUpReport, Confinement, Launch, Sandbox, SandboxProbe } from "../contract.ts"
import { refuseLayers } from "../layers.ts"
import { openPlainCommands, type PlainCommands, plainTree } from "../none.ts"
import { applyLimits, createGroup } from "../process/limits.ts"
import { buildSeccompFilter } from "../process/seccomp.ts"
import { executionTag } from "../process/survivors.ts"
import type { ConfinedSettings } from "../settings.ts"
import type { Mount } from "../view/mounts.ts"
import { encodeCallList } from "./call-list.ts"
import { landlockRules } from "./landlock-rules.ts"
import type { Launcher } from "./launchers.ts"
import { hostProfile, startOf } from "./native.ts"
import { reducedCalls } from "./reduced-calls.ts"
import { openGate, readReports, setupFailure } from "./tree.ts"

/**
 * Confinement without namespaces, for systems that give users none: rules for files, and the filter of system calls. It
 * is weaker, and every result says so: a command sees the processes of the machine, may change the modes and times of
 * what its user owns, has no loopback, and can make nothing new in a directory that holds something protected.
 */
export function createReducedSandbox(settings: ConfinedSettings, launcher: Launcher): Sandbox {
  const commands = openPlainCommands()
  return createConfinedSandbox(settings, {
    kind: "reduced",
    check: checkReduced,
    launch: prepared => launchReduced(prepared, launcher, commands),
  })
}

function checkReduced(confinement: Confinement): void {
  refuseLayers(confinement, "reduced confinement")
  if (confinement.network !== "hosts") return
  throw new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: "reduced confinement cannot hold a command to a list of hosts",
    hint: "`acode doctor` says what stronger confinement needs here",
  })
}

async function launchReduced(
  prepared: PreparedLaunch,
  launcher: Launcher,
  commands: PlainCommands,
): Promise<Launch> {
  const { confinement, groups, settings, architecture } = prepared
  const { limits, network } = confinement
  commands.adoptOrphans()
  const scratch = makeScratch(settings.workDirectory)
  const group = createGroup(limits, groups, 0)
  const environment: Confinement["environment"] = {
    ...confinement.environment,
    HOME: scratch,
    TMPDIR: scratch,
  }
  const list = reducedCalls({
    ...confinement,
    ...hostProfile(),
    environment,
    rules: rulesFor([...prepared.mounts, { kind: "writable", path: scratch }]),
    landlockVersion: landlockVersion(),
    isRoot: process.geteuid?.() === 0,
    fileBytesMax: limits.fileBytesMax,
    filter: filterFor(settings.unixSockets, network, architecture),
    groupDoors: group.doors,
  })
  const start = startOf(launcher, encodeCallList(list, architecture))
  let tree: ConfinedTree | null = null
  let report: Promise<CleanUpReport> | null = null
  return {
    protectedNames: prepared.tree.names,
    spawn: { argv: start.argv, env: tagOf(environment), cwd: "/", extra: start.extra },
    attach: async child => {
      const { status, gate } = start.attach(child)
      const reports = readReports(status, child)
      const inForce = applyLimits(child.pid, limits, group, true)
      const plain = plainTree(child, environment[executionTag] ?? null, commands, inForce)
      openGate(gate)
      tree = {
        ...plain,
        startFailure: () => {
          const { failed } = reports.read()
          return failed === null
            ? null
            : setupFailure(list.calls[failed.index]?.what ?? "start", failed.errno)
        },
        dispose: async () => undefined,
      }
      return watchedTree(prepared, tree, null)
    },
    cleanUp: async () => {
      report ??= cleanUpLaunch(prepared, tree, null).finally(() => {
        if (tree === null) group.remove()
        start.close()
        rmSync(scratch, { recursive: true, force: true })
      })
      return await report
    },
  }
}

/** A place for temporary files, in place of the private ones that need a namespace. */
function makeScratch(workDirectory: string): string {
  mkdirSync(workDirectory, { recursive: true, mode: 0o700 })
  return mkdtempSync(join(workDirectory, "scratch-"))
}

/** Without a network namespace nothing keeps a connection inside, so there is none, not even to itself. */
function filterFor(
  unixSockets: ConfinedSettings["unixSockets"],
  network: Confinement["network"],
  architecture: PreparedLaunch["architecture"],
): Uint8Array {
  const closed = network === "host" ? {} : ({ internetSockets: "deny" } as const)
  return buildSeccompFilter({ architecture, unixSockets, ...closed })
}

function rulesFor(mounts: readonly Mount[]) {
  const kindAt = (path: string) => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return null
    return found.isSymbolicLink() ? "link" : found.isDirectory() ? "directory" : "file"
  }
  const rules = landlockRules([...kernelMounts, ...mounts], { kindAt, list: listed })
  return rules.map(rule => ({ ...rule, isFile: kindAt(rule.path) !== "directory" }))
}

/** The kernel refuses what lies in `/proc` of a process outside of the rules. */
const kernelMounts: readonly Mount[] = [
  { kind: "readOnly", path: "/proc" },
  ...["null", "zero", "full", "random", "urandom", "tty"].map(
    (name): Mount => ({ kind: "writable", path: `/dev/${name}` }),
  ),
]

function listed(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    // What acode cannot list, the command cannot either.
    return []
  }
}

/** Tries it on a program that does nothing. */
export async function probeReduced(launcher: Launcher): Promise<SandboxProbe> {
  const version = landlockVersion()
  if (version < landlockNeeded)
    return {
      kind: "none",
      reason: `reduced confinement needs version ${landlockNeeded} of Landlock, and this kernel has ${version === 0 ? "none" : version}`,
      hint: "use Linux 6.2 or newer, with Landlock switched on",
      features: {},
    }
  const { trialOf } = await import("./probe.ts")
  const problem = await trialOf(launcher, architecture =>
    reducedCalls({
      ...hostProfile(),
      rules: rulesFor([{ kind: "readOnly", path: "/" }]),
      landlockVersion: version,
      isRoot: process.geteuid?.() === 0,
      argv: ["/bin/sh", "-c", "exit 0"],
      environment: {},
      cwd: "/",
      network: "none",
      fileBytesMax: unlimited.fileBytesMax,
      filter: filterFor("deny", "none", architecture),
      groupDoors: [],
    }),
  )
  if (problem === null) return { kind: "reduced", reason: null, hint: null, features: {} }
  return {
    kind: "none",
    reason: `reduced confinement does not work here: the launcher could not ${problem}`,
    hint: "run `acode doctor` to see what was tried",
    features: {},
  }
}

/** The first version that holds truncation. */
const landlockNeeded = 3
