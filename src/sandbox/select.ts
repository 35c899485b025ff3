import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { SandboxChoice } from "../domain/command.ts"
import { Failure } from "../domain/failure.ts"
import { createBwrapSandbox } from "./bwrap/bwrap.ts"
import type { Sandbox, SandboxProbe } from "./contract.ts"
import { createPlainSandbox } from "./none.ts"
import { findBwrap, probeSandbox } from "./probe.ts"
import type { BwrapSettings } from "./settings.ts"

export interface SandboxSettings
  extends Omit<BwrapSettings, "program" | "disableUserNamespaces" | "limitsScratch" | "onSetupFailed"> {
  readonly workspaceRoot: string
}

export interface SelectedSandbox {
  readonly sandbox: Sandbox
  /** One line for a person when there is less confinement than they may expect. */
  readonly notice: string | null
}

/**
 * The sandbox for a choice. `auto` takes bubblewrap where it works and nothing where it does not, and says so; a
 * choice by name is never replaced by another.
 */
export async function createSandbox(
  choice: SandboxChoice,
  settings: SandboxSettings,
): Promise<SelectedSandbox> {
  if (choice === "none") return { sandbox: createPlainSandbox(), notice: null }
  if (choice === "container") throw noContainer()
  const program = findBwrap(settings.workspaceRoot)
  const cache = probeCacheIn(join(settings.workDirectory, "probe.json"))
  let probe = program === null ? null : cache.read(program)
  if (probe === null) {
    probe = await probeSandbox(program)
    if (program !== null) cache.write(program, probe)
  }
  if (probe.kind === "bwrap" && program !== null) {
    const disableUserNamespaces = probe.features["disableUserNamespaces"] === true
    const sandbox = createBwrapSandbox({
      ...settings,
      program,
      disableUserNamespaces,
      limitsScratch: probe.features["limitsScratch"] === true,
      onSetupFailed: cache.forget,
    })
    return { sandbox, notice: null }
  }
  if (choice === "bwrap") throw unavailable(probe)
  return { sandbox: createPlainSandbox(), notice: noticeOf(probe) }
}

function noticeOf(probe: SandboxProbe): string {
  return `no sandbox: ${probe.reason ?? "bubblewrap does not work here"}. To get one: ${probe.hint ?? "run `acode doctor`"}.`
}

function unavailable(probe: SandboxProbe): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: probe.reason ?? "bubblewrap does not work here",
    hint: `${probe.hint ?? "run `acode doctor`"}; --sandbox none runs without confinement`,
  })
}

function noContainer(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: "the container sandbox is not available yet",
    hint: "use --sandbox bwrap, or --sandbox auto",
  })
}

/**
 * Remembers that the confinement worked, so that a command does not pay for a trial. It holds for this boot, this
 * user and this very program, and only a success is kept: a machine that cannot confine is asked again each time, and
 * a launch that fails in spite of it forgets it. The boot id is what makes it worthless to ship in a repository.
 */
interface ProbeCache {
  read(program: string): SandboxProbe | null
  write(program: string, probe: SandboxProbe): void
  forget(): void
}

export function probeCacheIn(path: string): ProbeCache {
  return {
    read: program => {
      const text = readText(path)
      if (text === null) return null
      try {
        const entry = JSON.parse(text) as Partial<CacheEntry>
        return entry.key === keyOf(program) && entry.probe?.kind === "bwrap" ? entry.probe : null
      } catch {
        // Truncated or written by another user: the probe runs again.
        return null
      }
    },
    write: (program, probe) => {
      if (probe.kind !== "bwrap") return
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(path, JSON.stringify({ key: keyOf(program), probe } satisfies CacheEntry), {
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

function keyOf(program: string): string {
  const found = statSync(program)
  const boot = readText("/proc/sys/kernel/random/boot_id")?.trim() ?? ""
  return [trialVersion, boot, process.geteuid?.(), program, found.ino, found.size, found.mtimeMs].join(":")
}

/** Another acode may have tried less. */
const trialVersion = 2

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // Not there yet.
    return null
  }
}
