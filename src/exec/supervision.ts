import { type Exit, type Spawned, spawn } from "../base/spawn.ts"
import type { CommandError } from "../domain/command-result.ts"
import type { Launch, ProcessTree } from "../sandbox/contract.ts"
import {
  atMost,
  type Deadline,
  endTree,
  endUnattached,
  type Interruption,
  startDeadline,
} from "./deadline.ts"
import { fromFailure, spawnRefused, survivors } from "./errors.ts"
import type { Execution, RunnerParts } from "./execution.ts"
import { commandExit } from "./exit.ts"
import { type Captured, type OutputStreams, openOutputs } from "./outputs.ts"
import { ownPeakBytes, type Usage, usageOf } from "./usage.ts"

/** How a process ended, before anybody has put it into words. */
export interface Ended {
  readonly exit: Exit
  /** What ended it from outside, if anything did. */
  readonly interruption: Interruption | null
  /** Why the program itself never ran although a process did. */
  readonly startFailure: CommandError | null
  /** Set when something of the tree may be left, which must never happen. */
  readonly survivors: CommandError | null
  readonly limitHit: string | null
  readonly usage: Usage
  readonly outputs: Captured
  readonly endedAt: number
  readonly durationMs: number
}

export type Supervised = Ended | { readonly unspawned: CommandError }

/** Starts the process, sees it to its end and leaves nothing of it alive, whatever happens in between. */
export async function supervise(
  parts: RunnerParts,
  execution: Execution,
  launch: Launch,
): Promise<Supervised> {
  const { clock, faults } = parts
  const streams = openOutputs(execution, parts, () => deadline.interrupt("tooMuchOutput"))
  const startedMs = clock.monotonicMs()
  let child: Spawned
  try {
    child = spawn({ ...launch.spawn, stdin: execution.context.stdin ?? "null", ...streams.destinations })
  } catch (error) {
    return { unspawned: spawnRefused(error, execution.command.executable) }
  }
  const ownPeak = ownPeakBytes()
  using deadline = startDeadline(execution.timeoutMs, execution.context.signal)
  let isOver = false
  try {
    faults.reach("command.spawned")
    streams.start(child)
    const end = await untilNothingRuns(child, launch, deadline, parts.settings.killGraceMs)
    isOver = true
    const endedAt = clock.now()
    const durationMs = Math.round(clock.monotonicMs() - startedMs)
    faults.reach("command.exited")
    await drain(streams, deadline)
    return {
      ...end,
      limitHit: end.tree?.limitHit() ?? null,
      usage: usageOf(child, end.tree, ownPeak),
      outputs: streams.captured(),
      endedAt,
      durationMs,
    }
  } finally {
    if (!isOver) await endUnattached(child)
    streams.cancel()
    child.close()
  }
}

type End = Pick<Ended, "exit" | "interruption" | "startFailure" | "survivors"> & {
  readonly tree: ProcessTree | null
}

async function untilNothingRuns(
  child: Spawned,
  launch: Launch,
  deadline: Deadline,
  graceMs: number,
): Promise<End> {
  const attachment = launch.attach(child).then(
    tree => ({ tree }),
    (error: unknown) => ({ error }),
  )
  const attached = await Promise.race([attachment, deadline.interrupted])
  if (typeof attached === "string") return endDuringAttach(child, attachment, attached)
  if (!("tree" in attached)) {
    await endUnattached(child)
    return { ...ended(await child.exited), startFailure: spawnRefused(attached.error, "the sandbox") }
  }
  const { tree } = attached
  const outcome = await Promise.race([child.exited, deadline.interrupted])
  const interruption = typeof outcome === "string" ? outcome : null
  let left: CommandError | null = null
  try {
    if (interruption === null) await tree.settle()
    else await endTree(child, tree, graceMs)
  } catch (error) {
    left = survivors(error)
    await endUnattached(child)
  }
  const failure = interruption === null ? (tree.startFailure?.() ?? null) : null
  return {
    ...ended(commandExit(await child.exited, launch.signalsAsExitCodes === true)),
    tree,
    interruption,
    startFailure: failure && fromFailure(failure),
    survivors: left,
  }
}

function ended(exit: Exit): End {
  return { exit, tree: null, interruption: null, startFailure: null, survivors: null }
}

/** How long a sandbox whose process was killed under it may take to notice. */
const attachGraceMs = 500

async function endDuringAttach(
  child: Spawned,
  attachment: Promise<{ tree: ProcessTree } | { error: unknown }>,
  interruption: Interruption,
): Promise<End> {
  await endUnattached(child)
  // The attachment fails with its child. Should it succeed after all, then what it took over is ended as well.
  const ending = attachment.then(late => ("tree" in late ? late.tree.kill() : undefined))
  await atMost(attachGraceMs, ending)
  return { ...ended(await child.exited), interruption }
}

/** How long a receiver may take for the last bytes of a command that was interrupted. */
const deliveryGraceMs = 500

/** Empties the pipes. A slow receiver is waited for as long as the command might still have run, and no longer. */
async function drain(streams: OutputStreams, deadline: Deadline): Promise<void> {
  const finished = streams.finish()
  await Promise.race([finished, deadline.interrupted])
  await atMost(deliveryGraceMs, finished)
  streams.release()
  await finished
}
