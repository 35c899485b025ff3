import { setImmediate as nextTurn } from "node:timers/promises"
import { reap } from "../../base/libc.ts"
import { trySignal } from "../process/process-handle.ts"

export interface GuardDescriptors {
  readonly status: number
  /**
   * The pipe whose other end only acode holds: the doors of a control group, an empty line that opens the gate, then
   * nothing until acode is gone.
   */
  readonly lifeline: number
  /** Additional ones that are for bubblewrap alone. */
  readonly others: readonly number[]
}

/**
 * Puts a guard beside bubblewrap that ends the sandbox when acode dies, at whatever moment. Bubblewrap's own
 * `--die-with-parent` leaves two gaps: until the first process of the namespace has asked for
 * the signal a started program lives on, and a bubblewrap killed before it has let that process go leaves it waiting
 * for ever. The guard reads from a pipe whose other end only acode holds. At its end it kills the first process, whose
 * number bubblewrap has written down, and its own process group, which that process is still in while it has no number.
 * The same shell waits at a gate before it becomes bubblewrap, so that limits are in force from its first moment on.
 */
export function guardedArgv(descriptors: GuardDescriptors, argv: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", guardScript(descriptors), "sh", ...argv]
}

function guardScript({ status, lifeline, others }: GuardDescriptors): string {
  return [
    `while read -r door <&${lifeline} || exit ${gateClosed}; [ -n "$door" ]; do`,
    `echo 0 >"$door" || exit ${gateClosed}`,
    "done",
    "{",
    `read -r line <&${lifeline}`,
    `while read -r _ key pid rest; do [ "$key" = '"child-pid":' ] && first=\${pid%,}; done </proc/self/fd/${status}`,
    // The pid could belong to another process by now.
    `[ -n "$first" ] && read -r name </proc/$first/comm && [ "$name" = bwrap ] && kill -9 $first`,
    "kill -9 0",
    // It must not keep the output of the command open, or its readers would never see the end.
    `} </dev/null >/dev/null 2>&1 ${others.map(fd => `${fd}<&-`).join(" ")} &`,
    `echo $! >&${status}`,
    // Where memory runs out the command goes first, and acode stays to scan what it left. The guard keeps its score.
    "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
    // What the shell itself would hand on.
    "unset PWD OLDPWD SHLVL",
    `exec "$@" ${lifeline}<&-`,
  ].join("\n")
}

/** The exit code of the shell when the gate was never opened. */
export const gateClosed = 125

/** Ends the guard after bubblewrap has exited: it is our child now, so its pid cannot have been reused. */
export async function dismissGuard(pid: number | null): Promise<void> {
  if (pid === null) return
  trySignal(pid, sigkill)
  for (let tries = 0; tries < triesMax && reap(pid) === null; tries++)
    await (tries < eagerTries ? nextTurn() : Bun.sleep(1))
}

const sigkill = 9
const eagerTries = 16
const triesMax = 2_000
