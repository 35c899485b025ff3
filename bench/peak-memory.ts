import { readFileSync } from "node:fs"
import type { TempWorkspace } from "../test/support/temp-workspace.ts"

/** As the system counts it. What a parent is told about its child is never less than what the parent itself has. */
export async function peakMb(argv: readonly string[], workspace: TempWorkspace): Promise<number> {
  const child = Bun.spawn([...argv], {
    cwd: workspace.root,
    env: { ...workspace.environment },
    stdout: "ignore",
    stderr: "ignore",
  })
  let peakKb = 0
  while (child.exitCode === null) {
    peakKb = Math.max(peakKb, highWaterKb(child.pid))
    await Bun.sleep(1)
  }
  return (peakKb * 1024) / 1e6
}

function highWaterKb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0)
  } catch {
    // It has ended meanwhile; what was seen before counts.
    return 0
  }
}
