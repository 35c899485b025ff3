import { constants } from "node:os"
import { type Exit, type Spawned, spawn } from "../base/spawn.ts"
import type { CommandError, CommandResult } from "../domain/command-result.ts"
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
import type { Execution, RunnerDeps } from "./execution.ts"
import { type Captured, type OutputStreams, openOutputs } from "./outputs.ts"

/** The end of a process, before it becomes a result. */
export interface Ended {
  readonly exit: Exit
  /** The interruption from outside, if there was one. */
  readonly interruption: Interruption | null
  /** The reason why the program itself never ran although a process did. */
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

/** Starts the process, waits for its exit and leaves nothing of its tree alive, whatever happens in between. */
export async function supervise(deps: RunnerDeps, execution: Execution, launch: Launch): Promise<Supervised> {
  const { clock, faults } = deps
  const streams = openOutputs(execution, deps, () => deadline.interrupt("tooMuchOutput"))
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
    const end = await untilNothingRuns(child, launch, deadline, deps.settings.killGraceMs)
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

/** The time a sandbox has to notice that its process was killed. */
const attachGraceMs = 500

async function endDuringAttach(
  child: Spawned,
  attachment: Promise<{ tree: ProcessTree } | { error: unknown }>,
  interruption: Interruption,
): Promise<End> {
  await endUnattached(child)
  // The attachment fails with its child. If it succeeds after all, the tree it took over is ended as well.
  const ending = attachment.then(late => ("tree" in late ? late.tree.kill() : undefined))
  await atMost(attachGraceMs, ending)
  return { ...ended(await child.exited), interruption }
}

/** The time a receiver has for the last bytes of an interrupted command. */
const deliveryGraceMs = 500

/** Empties the pipes. A slow receiver is waited for as long as the command might still have run, and no longer. */
async function drain(streams: OutputStreams, deadline: Deadline): Promise<void> {
  const finished = streams.finish()
  await Promise.race([finished, deadline.interrupted])
  await atMost(deliveryGraceMs, finished)
  streams.release()
  await finished
}

type Usage = CommandResult["usage"]

export const unmeasured: Usage = { cpuMs: null, maxRssBytes: null }

/** The kernel's own counters lag behind by some pages per thread, so a peak this close to ours proves nothing. */
const slackBytes = 4 * 1024 * 1024

/** acode's own peak, to be read right after a spawn. */
export function ownPeakBytes(): number {
  return process.resourceUsage().maxRSS * 1024
}

/**
 * Returns what the command used. Linux lets a child begin with the peak of the process that forked it, so a small
 * program would be charged with the size of acode: such a figure is left out.
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

/** Signals that end a program which does nothing about them. */
const deadly = [
  ...[
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
  ],
  ...["SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGSYS"],
]

/**
 * A death by signal N arrives from a reaper as exit code 128 + N, and is reported as the signal. 129 stays a
 * code: git ends with it when it is called wrongly, which is far more common than a hang-up.
 */
export function commandExit(exit: Exit, signalsAsExitCodes: boolean): Exit {
  if (!signalsAsExitCodes || exit.exitCode === null) return exit
  const signal = deadlyByCode.get(exit.exitCode)
  return signal === undefined ? exit : { exitCode: null, signal }
}

const numbers: Readonly<Record<string, number>> = constants.signals
const deadlyByCode = new Map(deadly.map(name => [128 + (numbers[name] ?? 0), name]))
