/** Moves one output stream out of its pipe until it ends or is given up. */
export interface Pump {
  /** Call it when every process of the command is dead. Resolves when nothing more comes. */
  finish(): Promise<void>
  /** Lets go of a receiver that holds the stream back: it gets nothing more, the rest is still kept. */
  release(): void
  /** Gives the pipe up at once, whatever is still in it. */
  cancel(): void
}

export interface PumpReceivers {
  readonly keep: (chunk: Uint8Array) => void
  /** A promise holds the stream back, and so the process that writes it. */
  readonly pass: ((chunk: Uint8Array) => Promise<void> | void) | null
}

/** With its writers dead, what is in a pipe can be read at once: this long without a byte means there is none. */
const quietMs = 100

/** Somebody else still writes to the pipe; this many times `quietMs` of it is enough. */
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
    // Whoever calls `finish` is told; until then a failure must not end acode as an unhandled rejection.
    this.done.catch(() => undefined)
  }

  /** A process that is none of ours may still hold the pipe open, so the end of the stream may never come. */
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
    // Cancelling a stream that has ended or failed says so, and that is no news.
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
      // A receiver that fails is not asked again; what it does not want is still captured and recorded.
      this.release()
      return null
    }
  }
}
