import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { createBwrapSandbox } from "./bwrap/bwrap.ts"
import { findBwrap, probeBwrap } from "./bwrap/probe.ts"
import type { Sandbox, SandboxProbe } from "./contract.ts"
import { type Launcher, nativeLauncher, perlLauncher } from "./native/launchers.ts"
import { createNativeSandbox } from "./native/native.ts"
import { probeNative } from "./native/probe.ts"
import { createReducedSandbox, probeReduced } from "./native/reduced.ts"
import { filterArchitecture } from "./process/seccomp.ts"
import type { ConfinedSettings } from "./settings.ts"

/** One way to confine commands on this machine, which may work here or not. */
export interface Candidate {
  readonly kind: Exclude<Sandbox["kind"], "none">
  /** The things on which the result of a trial depends besides the boot and the user. */
  readonly identity: string
  probe(): Promise<SandboxProbe>
  create(settings: ConfinedSettings, probe: SandboxProbe): Sandbox
}

/** Returns every candidate in the order in which `auto` tries them. Nothing inside the workspace is ever used. */
export function findCandidates(workspaceRoot: string): readonly Candidate[] {
  const architecture = filterArchitecture(process.arch)
  const launchers =
    architecture === null ? [] : [nativeLauncher(architecture), perlLauncher(architecture, workspaceRoot)]
  const found = launchers.filter(launcher => launcher !== null)
  return [...found.map(native), bwrap(workspaceRoot), ...found.slice(0, 1).map(reduced)]
}

function bwrap(workspaceRoot: string): Candidate {
  const program = findBwrap(workspaceRoot)
  return {
    kind: "bwrap",
    identity: program === null ? "" : identityOf(program),
    probe: () => probeBwrap(program),
    create: (settings, { features }) =>
      createBwrapSandbox({
        ...settings,
        program: program ?? "",
        disableUserNamespaces: features["disableUserNamespaces"] === true,
        limitsScratch: features["limitsScratch"] === true,
      }),
  }
}

function native(launcher: Launcher): Candidate {
  return {
    kind: launcher.kind,
    identity: launcher.program === null ? "" : identityOf(launcher.program),
    probe: () => probeNative(launcher),
    create: (settings, { features }) =>
      createNativeSandbox({ ...settings, launcher, freshProc: features["freshProc"] === true }),
  }
}

function reduced(launcher: Launcher): Candidate {
  return {
    kind: "reduced",
    identity: "",
    probe: () => probeReduced(launcher),
    create: settings => createReducedSandbox(settings, launcher),
  }
}

/** Returns a text that differs for each version of a program. */
export function identityOf(program: string): string {
  const found = statSync(program)
  return [program, found.ino, found.size, found.mtimeMs].join(":")
}

/**
 * Remembers that the confinement worked, so that a command does not pay for a trial. It holds for this boot, this
 * user and this very program, and only a success is kept: a machine that cannot confine is asked again each time, and
 * a launch that fails in spite of it forgets it. The boot id is what makes it worthless to ship in a repository.
 */
export interface ProbeCache {
  read(identity: string): SandboxProbe | null
  write(identity: string, probe: SandboxProbe): void
  forget(): void
}

export function probeCacheIn(path: string): ProbeCache {
  return {
    read: identity => {
      const text = readText(path)
      if (text === null) return null
      try {
        const entry = JSON.parse(text) as Partial<CacheEntry>
        return entry.key === keyOf(identity) && (entry.probe?.kind ?? "none") !== "none"
          ? (entry.probe ?? null)
          : null
      } catch {
        // Truncated or written by another user: the probe runs again.
        return null
      }
    },
    write: (identity, probe) => {
      if (probe.kind === "none") return
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(path, JSON.stringify({ key: keyOf(identity), probe } satisfies CacheEntry), {
        mode: 0o600,
      })
    },
    forget: () => rmSync(path, { force: true }),
  }
}

interface CacheEntry {
  readonly key: string
  readonly probe: SandboxProbe
}

function keyOf(identity: string): string {
  const boot = readText("/proc/sys/kernel/random/boot_id")?.trim() ?? ""
  return [trialVersion, boot, process.geteuid?.(), identity].join(":")
}

/** Another acode may have tried less. */
const trialVersion = 3

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // Not there yet.
    return null
  }
}
