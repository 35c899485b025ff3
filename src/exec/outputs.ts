import type { Spawned, SpawnRequest } from "../base/spawn.ts"
import { type Capture, type CapturedStream, createCapture, nothingCaptured } from "./capture.ts"
import type { Execution, RunnerParts } from "./execution.ts"
import { type Pump, startPump } from "./pump.ts"

export interface Captured {
  readonly stdout: CapturedStream
  readonly stderr: CapturedStream
}

/** Both output streams of one process. */
export interface OutputStreams {
  /** A stream that is neither captured nor watched goes nowhere. */
  readonly destinations: Pick<SpawnRequest, "stdout" | "stderr">
  start(child: Spawned): void
  /** See Pump: call it when every process of the command is dead. */
  finish(): Promise<void>
  release(): void
  cancel(): void
  captured(): Captured
}

export const noOutputs: Captured = { stdout: nothingCaptured, stderr: nothingCaptured }

/** `onTooMuch` is called once, when both streams together have passed the ceiling. */
export function openOutputs(execution: Execution, parts: RunnerParts, onTooMuch: () => void): OutputStreams {
  const { capture: mode, context, outputBytesMax, redactor } = execution
  const limits = { outputBytesMax, artifactBytesMax: parts.settings.artifactBytesMax }
  const captures = {
    stdout: mode === "all" || mode === "stdout" ? createCapture(limits) : null,
    stderr: mode === "all" || mode === "stderr" ? createCapture(limits) : null,
  }
  const destination = (capture: Capture | null) =>
    capture === null && context.onOutput === undefined ? "null" : "pipe"
  const count = countOutput(parts, onTooMuch)
  const pumps: Pump[] = []
  const pump = (name: "stdout" | "stderr", stream: Spawned["stdout"]) => {
    const { onOutput } = context
    const keep = (chunk: Uint8Array) => {
      count(chunk.length)
      captures[name]?.add(chunk)
    }
    const pass = onOutput === undefined ? null : (chunk: Uint8Array) => onOutput(name, chunk)
    if (stream !== null) pumps.push(startPump(stream, { keep, pass }))
  }
  return {
    destinations: { stdout: destination(captures.stdout), stderr: destination(captures.stderr) },
    start: child => {
      pump("stdout", child.stdout)
      pump("stderr", child.stderr)
    },
    finish: async () => {
      await Promise.all(pumps.map(one => one.finish()))
    },
    release: () => {
      for (const one of pumps) one.release()
    },
    cancel: () => {
      for (const one of pumps) one.cancel()
    },
    captured: () => ({
      stdout: captures.stdout?.finish(redactor) ?? nothingCaptured,
      stderr: captures.stderr?.finish(redactor) ?? nothingCaptured,
    }),
  }
}

/** Reaches the fault point of the first byte, and tells when there are too many. */
function countOutput({ settings, faults }: RunnerParts, onTooMuch: () => void): (bytes: number) => void {
  let written = 0
  return bytes => {
    if (written === 0) faults.reach("command.output")
    const isBelow = written <= settings.outputCeilingBytes
    written += bytes
    if (isBelow && written > settings.outputCeilingBytes) onTooMuch()
  }
}
