import type { AcodeRun } from "../acode.ts"

export interface Crash {
  /** The n-th fault point it reached, counted from 1. */
  readonly point: number
  readonly run: AcodeRun
  /** False for the last one, which ran to its end: there was no such point. */
  readonly crashed: boolean
}

/**
 * Dies at point 1, then 2, … until a run survives, and yields each so that the caller can inspect what is left.
 * `run` starts acode with `ACODE_FAILPOINT` set to what it is given.
 */
export async function* crashes(
  run: (failpoint: { readonly ACODE_FAILPOINT: string }) => Promise<AcodeRun>,
  pointsMax = 400,
): AsyncGenerator<Crash> {
  for (let point = 1; point <= pointsMax; point++) {
    const ended = await run({ ACODE_FAILPOINT: String(point) })
    const crashed = ended.signal === "SIGKILL"
    yield { point, run: ended, crashed }
    if (!crashed) return
  }
  throw new Error(`still crashing at point ${pointsMax}: the fault points do not end`)
}
