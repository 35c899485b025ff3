import { messageOf } from "../base/assert.ts"
import type { ExecutionRecord } from "../domain/command-result.ts"
import type { ProtectedNames } from "../domain/events/command-events.ts"
import { Failure } from "../domain/failure.ts"
import type { CommandRunner, Recorder } from "./contract.ts"
import { internal, interruptedBy, queueFull } from "./errors.ts"
import { type Execution, planExecution, type RunnerDeps } from "./execution.ts"
import { createQueue } from "./queue.ts"
import { makeReady, type Readiness, unconfined } from "./readiness.ts"
import { type Completed, finishedResult, type Times, unstarted } from "./result.ts"
import { supervise } from "./supervision.ts"

/** The command runner. One instance is shared by everybody who runs something, so that its queue is the only one. */
export function createRunner(deps: RunnerDeps): CommandRunner {
  const { settings, clock } = deps
  const queue = createQueue(settings, clock)
  return {
    execute: async (command, options = {}, context = {}) => {
      const execution = planExecution(deps, command, options, context)
      const place = await queue.enter(context.signal)
      if (place.kind === "full") return turnAway(deps, execution, 0, "notStarted")
      if (place.kind === "cancelled") return turnAway(deps, execution, place.queuedMs, "cancelled")
      try {
        return await run(deps, execution, place.queuedMs)
      } finally {
        place.leave()
      }
    },
  }
}

/** Runs a command that has a free slot, up to its durable outcome. */
async function run(deps: RunnerDeps, execution: Execution, queuedMs: number) {
  const ready = await makeReady(deps, execution)
  await writeIntent(deps, execution, ready)
  const completed = await bringAbout(deps, execution, ready, { startedAt: deps.clock.now(), queuedMs })
  return writeOutcome(deps, completed)
}

/** A command that got no slot is written down like any other; there is just no process in between. */
function turnAway(
  deps: RunnerDeps,
  execution: Execution,
  queuedMs: number,
  ending: "notStarted" | "cancelled",
) {
  const confined = unconfined(execution)
  const error = ending === "cancelled" ? interruptedBy(ending, 0) : queueFull(deps.settings.queuedMax)
  record(deps, execution, confined)
  const times = { startedAt: deps.clock.now(), queuedMs }
  return writeOutcome(deps, unstarted(execution, confined, times, { ending, error }))
}

/** Records the intent, durable before anything starts. On failure the preparation is undone and nothing is started. */
async function writeIntent(deps: RunnerDeps, execution: Execution, ready: Readiness): Promise<void> {
  try {
    if (ready.kind === "ready") execution.context.onConfined?.(ready.confined, ready.notice)
    const names = ready.kind === "ready" ? ready.launch.protectedNames : undefined
    record(deps, execution, ready.confined, names)
  } catch (error) {
    if (ready.kind === "ready") await ready.launch.cleanUp()
    throw error
  }
}

function record(
  { recorder, faults }: RunnerDeps,
  execution: Execution,
  sandbox: Readiness["confined"],
  protectedNames?: ProtectedNames,
): void {
  const { id, recorded, correlationIds } = execution
  faults.reach("command.starting")
  const intent = { id, command: recorded, correlationIds, sandbox }
  recorder.started(protectedNames === undefined ? intent : { ...intent, protectedNames })
  faults.reach("command.started")
}

/** Runs the process, if there is one to run, and removes every trace of its confinement. */
async function bringAbout(
  deps: RunnerDeps,
  execution: Execution,
  ready: Readiness,
  times: Times,
): Promise<Completed> {
  const { confined } = ready
  if (ready.kind === "refused")
    return unstarted(execution, confined, times, { ending: "notStarted", error: ready.error })
  const { launch } = ready
  if (execution.context.signal?.aborted) {
    const report = await launch.cleanUp()
    const cancelled = { ending: "cancelled", error: interruptedBy("cancelled", 0) } as const
    return unstarted(execution, confined, times, cancelled, report)
  }
  try {
    const ended = await supervise(deps, execution, launch)
    const report = await launch.cleanUp()
    deps.faults.reach("command.cleaned")
    return "unspawned" in ended
      ? unstarted(execution, confined, times, { ending: "notStarted", error: ended.unspawned }, report)
      : finishedResult(execution, confined, times, ended, report)
  } catch (error) {
    // An internal error. The command may have done anything, so its record is closed with an unknown outcome.
    const report = await launch.cleanUp()
    const lost = { ending: "interrupted", error: internal(error) } as const
    return unstarted(execution, confined, times, lost, report)
  }
}

/** Records the outcome; it is durable when this returns, before the caller gets the result. */
function writeOutcome({ recorder, faults }: RunnerDeps, { record, outputs }: Completed): ExecutionRecord {
  faults.reach("command.finishing")
  const recorded = recordedAs(recorder, record, outputs)
  faults.reach("command.finished")
  return recorded
}

function recordedAs(recorder: Recorder, record: ExecutionRecord, outputs: Completed["outputs"]) {
  try {
    return recorder.finished(record, outputs)
  } catch (error) {
    throw unrecorded(error, record.result.ending, record.result.exitCode)
  }
}

function unrecorded(thrown: unknown, ending: string, exitCode: number | null): Failure {
  const how = exitCode === null ? ending : `${ending} with code ${exitCode}`
  const report =
    thrown instanceof Failure ? thrown.report : ({ kind: "general", code: "ACODE-DB-001" } as const)
  return new Failure(
    { ...report, message: `the command ran (${how}) but that could not be recorded: ${messageOf(thrown)}` },
    { cause: thrown },
  )
}
