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

export function startPump(stream: ReadableStream<Uint8Array>, { keep, pass }: PumpReceivers): Pump {
  const reader = stream.getReader()
  const released = Promise.withResolvers<void>()
  let receiver = pass
  let isHeld = false
  let reads = 0
  const done = run()
  // Whoever calls `finish` is told; until then a failure must not end acode as an unhandled rejection.
  done.catch(() => undefined)

  return { finish, release, cancel }

  async function run(): Promise<void> {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      reads += 1
      keep(value)
      const passing = passOn(value)
      if (passing === null) continue
      isHeld = true
      await Promise.race([passing, released.promise])
      isHeld = false
    }
  }

  function passOn(chunk: Uint8Array): Promise<void> | null {
    try {
      return receiver?.(chunk)?.catch(release) ?? null
    } catch {
      // A receiver that fails is not asked again; what it does not want is still captured and recorded.
      release()
      return null
    }
  }

  /** A process that is none of ours may still hold the pipe open, so the end of the stream may never come. */
  async function finish(): Promise<void> {
    let ticks = 0
    let seen = -1
    const timer = setInterval(() => {
      if (isHeld) return
      ticks += 1
      if (reads === seen || ticks > quietTicksMax) cancel()
      seen = reads
    }, quietMs)
    try {
      await done
    } finally {
      clearInterval(timer)
    }
  }

  function release(): void {
    receiver = null
    released.resolve()
  }

  function cancel(): void {
    release()
    // Cancelling a stream that has ended or failed says so, and that is no news.
    reader.cancel().catch(() => undefined)
  }
}
