import { reap } from "./libc.ts"
import { trySignal } from "./process-handle.ts"

export interface GuardDescriptors {
  readonly arguments: number
  readonly seccomp: number
  readonly status: number
  readonly block: number
  readonly lifeline: number
}

/**
 * Puts a guard beside bubblewrap that ends the sandbox when acode dies, at whatever moment. Bubblewrap's own
 * `--die-with-parent` leaves two gaps in which nobody is told: until the first process of the namespace has asked for
 * the signal a started program lives on, and a bubblewrap killed before it has let that process go leaves it waiting
 * for ever. The guard reads from a pipe whose other end only acode holds. At its end it kills the first process, whose
 * number bubblewrap has written down, and its own process group, which that process is still in while it has no number.
 */
export function guarded(descriptors: GuardDescriptors, argv: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", guardScript(descriptors), "sh", ...argv]
}

function guardScript(descriptors: GuardDescriptors): string {
  const { status, lifeline } = descriptors
  const notForGuard = [descriptors.arguments, descriptors.seccomp, descriptors.block].map(fd => `${fd}<&-`)
  return [
    "{",
    `read -r line <&${lifeline}`,
    `while read -r _ key pid rest; do [ "$key" = '"child-pid":' ] && first=\${pid%,}; done </proc/self/fd/${status}`,
    // The number could be somebody else's by now.
    `[ -n "$first" ] && read -r name </proc/$first/comm && [ "$name" = bwrap ] && kill -9 $first`,
    "kill -9 0",
    // It must not hold on to the output of the command, or nobody would see its end.
    `} </dev/null >/dev/null 2>&1 ${notForGuard.join(" ")} &`,
    `echo $! >&${status}; exec ${lifeline}<&-; exec "$@"`,
  ].join("\n")
}

/** The pid of the guard, which is the first line of the status. */
export function guardPid(status: string): number | null {
  const found = /^(\d+)\n/.exec(status)?.[1]
  return found === undefined ? null : Number(found)
}

/**
 * After bubblewrap has ended: its guard is our child now, so its number cannot be anybody else's. Nobody waits for its
 * death; it is taken off the process table as soon as it has happened, at the latest with the next command.
 */
export function dismissGuard(pid: number | null): void {
  if (pid !== null) {
    trySignal(pid, sigkill)
    dismissed.add(pid)
  }
  for (const guard of dismissed) if (reap(guard) !== null) dismissed.delete(guard)
  if (dismissed.size > 0) setTimeout(() => dismissGuard(null), retryMs).unref()
}

const dismissed = new Set<number>()
const sigkill = 9
const retryMs = 5
