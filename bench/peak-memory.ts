import { readFileSync } from "node:fs"
import type { TempWorkspace } from "../test/support/workspace/temp-workspace.ts"

/**
 * Returns the peak memory as the system counts it. The count only grows, so its last value is the peak; the first one
 * may still be that of the parent, whose memory a child has until its own program is loaded. The value that a parent
 * receives at the end of a child is never below its own.
 */
export async function peakMb(argv: readonly string[], workspace: TempWorkspace): Promise<number> {
  const child = Bun.spawn([...argv], {
    cwd: workspace.root,
    env: { ...workspace.environment },
    stdout: "ignore",
    stderr: "ignore",
  })
  let peakKb = 0
  while (child.exitCode === null) {
    peakKb = highWaterKb(child.pid) ?? peakKb
    await Bun.sleep(1)
  }
  return (peakKb * 1024) / 1e6
}

/** Null when it has ended. */
function highWaterKb(pid: number): number | null {
  try {
    const told = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    return told === undefined ? null : Number(told)
  } catch {
    // Its entry is gone with it.
    return null
  }
}
