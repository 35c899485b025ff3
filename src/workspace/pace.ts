import type { Clock } from "../base/clock.ts"
import { Failure } from "../domain/failure.ts"

/** The longest time that work may delay signals, timers and the renewal of leases. */
const sliceMs = 20

/**
 * Interrupts long work at short intervals, so that signals and timers run. Work that is to stop throws an `interrupted`
 * Failure at one of these points. Work that is shorter than one interval is never interrupted.
 */
export class Pace {
  private restedMs: number
  private stopSeenMs: number | null = null

  constructor(
    private readonly clock: Clock,
    private readonly stopping: () => AbortSignal | null = () => null,
    /** The time that the work may continue after the request to stop. */
    private readonly graceMs = 0,
  ) {
    this.restedMs = clock.monotonicMs()
  }

  /** Reports whether it is time to call `rest`. Cheap enough to call for each file. */
  isDue(): boolean {
    return this.clock.monotonicMs() - this.restedMs >= sliceMs
  }

  async rest(): Promise<void> {
    await new Promise<void>(resolve => setImmediate(resolve))
    this.restedMs = this.clock.monotonicMs()
    if (this.stopping()?.aborted !== true) return
    this.stopSeenMs ??= this.restedMs
    if (this.restedMs - this.stopSeenMs >= this.graceMs) throw stopped()
  }
}

function stopped(): Failure {
  return new Failure({
    kind: "interrupted",
    code: "ACODE-EXE-009",
    message: "interrupted while the files of the workspace were being read",
    hint: "run it again if it is still wanted",
  })
}
