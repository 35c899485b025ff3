import type { Spawned } from "../base/spawn.ts"
import type { CommandResult } from "../domain/command-result.ts"
import type { ProcessTree } from "../sandbox/contract.ts"

export type Usage = CommandResult["usage"]

export const unmeasured: Usage = { cpuMs: null, maxRssBytes: null }

/** The kernel's own counters lag behind by some pages per thread, so a peak this close to ours proves nothing. */
const slackBytes = 4 * 1024 * 1024

/** acode's own peak, to be read right after a spawn. */
export function ownPeakBytes(): number {
  return process.resourceUsage().maxRSS * 1024
}

/**
 * What the command spent. Linux lets a child begin with the peak of the process that forked it, so a small program
 * would be charged with the size of acode: such a figure is left out rather than told wrong.
 */
export function usageOf(child: Spawned, tree: ProcessTree | null, ownPeakAtSpawn: number): Usage {
  const cpuMs = tree?.cpuMs?.() ?? child.cpuMs()
  const peak = child.maxRssBytes()
  const isOfChild = peak !== null && peak > ownPeakAtSpawn + slackBytes
  return {
    cpuMs: cpuMs === null ? null : Math.round(cpuMs),
    maxRssBytes: tree?.maxRssBytes() ?? (isOfChild ? peak : null),
  }
}
