import { ownChildren, type Spawned } from "../base/spawn.ts"
import type { ProcessTree } from "../sandbox/contract.ts"

export type Interruption = "timedOut" | "cancelled" | "tooMuchOutput"

/** Ends a command from outside: at its deadline, for its caller, at a ceiling. The first of them is the reason. */
export interface Deadline extends Disposable {
  readonly interrupted: Promise<Interruption>
  interrupt(reason: Interruption): void
}

export function startDeadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  const { promise, resolve } = Promise.withResolvers<Interruption>()
  const onAbort = () => resolve("cancelled")
  const timer = setTimeout(() => resolve("timedOut"), timeoutMs)
  if (signal?.aborted) onAbort()
  else signal?.addEventListener("abort", onAbort, { once: true })
  return {
    interrupted: promise,
    interrupt: resolve,
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", onAbort)
    },
  }
}

/** Asks a command to end, waits a little, and ends everything it started. */
export async function endTree(child: Spawned, tree: ProcessTree, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    tree.terminate()
    await atMost(graceMs, child.exited)
  }
  await tree.kill()
  await child.exited
}

/**
 * Ends a child that no supervisor has taken over: it leads a process group of its own, so the group is signalled. Once
 * its exit has been collected its pid may belong to another process, and nothing is signalled any more.
 */
export async function endUnattached(child: Spawned): Promise<void> {
  for (const target of [-child.pid, child.pid]) {
    if (!ownChildren.has(child.pid)) break
    try {
      process.kill(target, "SIGKILL")
    } catch {
      // It has ended already, or has not yet become the leader of its group; then the second target reaches it.
    }
  }
  await child.exited
}

/** Waits for a promise, at most for a given time. */
export async function atMost(limitMs: number, event: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  try {
    await Promise.race([event, promise])
  } finally {
    clearTimeout(timer)
  }
}
