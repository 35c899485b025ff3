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
export function openOutputs(
  execution: Execution,
  { settings, faults }: RunnerParts,
  onTooMuch: () => void,
): OutputStreams {
  const { capture: mode, context, outputBytesMax, redactor } = execution
  const limits = { outputBytesMax, artifactBytesMax: settings.artifactBytesMax }
  const captures = {
    stdout: mode === "all" || mode === "stdout" ? createCapture(limits) : null,
    stderr: mode === "all" || mode === "stderr" ? createCapture(limits) : null,
  }
  const pumps: Pump[] = []
  let writtenBytes = 0

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

  function destination(capture: Capture | null): "pipe" | "null" {
    return capture === null && context.onOutput === undefined ? "null" : "pipe"
  }

  function pump(name: "stdout" | "stderr", stream: Spawned["stdout"]): void {
    if (stream === null) return
    const { onOutput } = context
    const keep = (chunk: Uint8Array) => {
      if (writtenBytes === 0) faults.reach("command.output")
      const isBelow = writtenBytes <= settings.outputCeilingBytes
      writtenBytes += chunk.length
      captures[name]?.add(chunk)
      if (isBelow && writtenBytes > settings.outputCeilingBytes) onTooMuch()
    }
    pumps.push(
      startPump(stream, { keep, pass: onOutput === undefined ? null : chunk => onOutput(name, chunk) }),
    )
  }
}
