import type { Spawned, SpawnRequest } from "../base/spawn.ts"
import { type Capture, type CapturedStream, createCapture, nothingCaptured } from "./capture.ts"
import type { Execution, RunnerDeps } from "./execution.ts"

export interface Captured {
  readonly stdout: CapturedStream
  readonly stderr: CapturedStream
}

/** The two output streams of one process. */
export interface OutputStreams {
  /** A stream that is neither captured nor watched goes nowhere. */
  readonly destinations: Pick<SpawnRequest, "stdout" | "stderr">
  start(child: Spawned): void
  /** Ends reading, as `Pump.finish` does. Call it when every process of the command is dead. */
  finish(): Promise<void>
  release(): void
  cancel(): void
  captured(): Captured
}

export const noOutputs: Captured = { stdout: nothingCaptured, stderr: nothingCaptured }

/** `onTooMuch` is called once, when both streams together have passed the ceiling. */
export function openOutputs(execution: Execution, deps: RunnerDeps, onTooMuch: () => void): OutputStreams {
  const { capture: mode, context, outputBytesMax, redactor } = execution
  const limits = { outputBytesMax, artifactBytesMax: deps.settings.artifactBytesMax }
  const captures = {
    stdout: mode === "all" || mode === "stdout" ? createCapture(limits) : null,
    stderr: mode === "all" || mode === "stderr" ? createCapture(limits) : null,
  }
  const destination = (capture: Capture | null) =>
    capture === null && context.onOutput === undefined ? "null" : "pipe"
  const count = countOutput(deps, onTooMuch)
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

/** Reaches the fault point of the first byte, and calls `onTooMuch` when there are too many bytes. */
function countOutput({ settings, faults }: RunnerDeps, onTooMuch: () => void): (bytes: number) => void {
  let written = 0
  return bytes => {
    if (written === 0) faults.reach("command.output")
    const isBelow = written <= settings.outputCeilingBytes
    written += bytes
    if (isBelow && written > settings.outputCeilingBytes) onTooMuch()
  }
}

/** Moves one output stream out of its pipe until it ends or is given up. */
interface Pump {
  /** Call it when every process of the command is dead. Resolves when nothing more comes. */
  finish(): Promise<void>
  /** Lets go of a receiver that holds the stream back: it gets nothing more, the rest is still kept. */
  release(): void
  /** Gives the pipe up at once, whatever is still in it. */
  cancel(): void
}

interface PumpReceivers {
  readonly keep: (chunk: Uint8Array) => void
  /** A promise holds the stream back, and so the process that writes it. */
  readonly pass: ((chunk: Uint8Array) => Promise<void> | void) | null
}

/** The silence after which a pipe whose writers are dead is empty: what it holds can be read at once. */
const quietMs = 100

/** The number of `quietMs` to wait for a pipe that another process still writes to. */
const quietTicksMax = 10

export function startPump(stream: ReadableStream<Uint8Array>, receivers: PumpReceivers): Pump {
  return new StreamPump(stream, receivers)
}

const readerOf = (stream: ReadableStream<Uint8Array>) => stream.getReader()
type StreamReader = ReturnType<typeof readerOf>

class StreamPump implements Pump {
  private readonly reader: StreamReader
  private readonly released = Promise.withResolvers<void>()
  private readonly done: Promise<void>
  private receiver: PumpReceivers["pass"]
  private isHeld = false
  private reads = 0

  constructor(
    stream: ReadableStream<Uint8Array>,
    private readonly receivers: PumpReceivers,
  ) {
    this.reader = readerOf(stream)
    this.receiver = receivers.pass
    this.done = this.run()
    // The caller of `finish` receives the failure; until then it must not end acode as an unhandled rejection.
    this.done.catch(() => undefined)
  }

  /** Another process may still hold the pipe open, so the end of the stream may never come. */
  async finish(): Promise<void> {
    let ticks = 0
    let seen = -1
    const timer = setInterval(() => {
      if (this.isHeld) return
      ticks += 1
      if (this.reads === seen || ticks > quietTicksMax) this.cancel()
      seen = this.reads
    }, quietMs)
    try {
      await this.done
    } finally {
      clearInterval(timer)
    }
  }

  release(): void {
    this.receiver = null
    this.released.resolve()
  }

  cancel(): void {
    this.release()
    // Cancelling a stream that has ended or failed rejects with what is known already.
    this.reader.cancel().catch(() => undefined)
  }

  private async run(): Promise<void> {
    for (;;) {
      const { value, done } = await this.reader.read()
      if (done) return
      this.reads += 1
      this.receivers.keep(value)
      const passing = this.passOn(value)
      if (passing === null) continue
      this.isHeld = true
      await Promise.race([passing, this.released.promise])
      this.isHeld = false
    }
  }

  private passOn(chunk: Uint8Array): Promise<void> | null {
    try {
      return this.receiver?.(chunk)?.catch(() => this.release()) ?? null
    } catch {
      // A receiver that fails is not called again; the rest is still captured and recorded.
      this.release()
      return null
    }
  }
}
