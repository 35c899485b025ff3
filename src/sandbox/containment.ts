import { firstProcess, type LaunchStatus } from "./launch-status.ts"
import { limitProcesses } from "./limits.ts"
import { descendantsOf } from "./proc-tree.ts"

/**
 * Puts the number of processes nobody asked for on the namespace as soon as it has a first process, without holding
 * its start up. Making the mounts takes longer than that, so the program usually starts under the limit; what was
 * faster is put under it too.
 */
export async function limitProcessesSoon(status: LaunchStatus, processesMax: number): Promise<void> {
  const inner = await firstProcess(status)
  if (inner === null) return
  const limited = new Set<number>()
  for (let round = 0; round < roundsMax; round++) {
    const found = [inner.pid, ...descendantsOf(inner.pid, processesMax)].filter(pid => !limited.has(pid))
    if (found.length === 0 || inner.isGone()) return
    for (const pid of found) {
      limitProcesses(pid, processesMax)
      limited.add(pid)
    }
  }
}

const roundsMax = 50
