import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { SandboxProbe } from "./contract.ts"

/**
 * Remembers that the confinement worked, so that a command does not pay for a trial. It holds for this boot, this
 * user and this very program, and only a success is kept: a machine that cannot confine is asked again each time, and
 * a launch that fails in spite of it forgets it. The boot id is what makes it worthless to ship in a repository.
 */
export interface ProbeCache {
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
        // Cut off or not ours: a trial finds out what it would have said.
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
