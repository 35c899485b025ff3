/** What was measured, sorted, in milliseconds. */
export interface Timing {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly count: number
}

/** Runs `work` some times unmeasured and then `count` times, one after the other. */
export async function timed(count: number, work: () => Promise<void> | void): Promise<Timing> {
  const [timing] = await interleaved(count, [work])
  return timing ?? { p50: 0, p95: 0, p99: 0, count: 0 }
}

/**
 * Measures several things in turns, so that whatever the machine does meanwhile happens to all of them. That is what
 * makes their ratios mean something on a machine that is not quiet.
 */
export async function interleaved(
  count: number,
  works: readonly (() => Promise<void> | void)[],
): Promise<Timing[]> {
  const warmUps = Math.max(2, Math.ceil(count / 10))
  for (let run = 0; run < warmUps; run++) for (const work of works) await work()
  const samples = works.map((): number[] => [])
  for (let run = 0; run < count; run++) {
    for (const [index, work] of works.entries()) {
      const began = performance.now()
      await work()
      samples[index]?.push(performance.now() - began)
    }
  }
  return samples.map(timingOf)
}

/** For things too short to time one by one: the mean of a batch is one sample. */
export async function timedBatch(batches: number, batchSize: number, work: () => void): Promise<Timing> {
  const timing = await timed(batches, () => {
    for (let run = 0; run < batchSize; run++) work()
  })
  const each = (ms: number) => ms / batchSize
  return {
    p50: each(timing.p50),
    p95: each(timing.p95),
    p99: each(timing.p99),
    count: timing.count * batchSize,
  }
}

export function timingOf(samples: readonly number[]): Timing {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), count: sorted.length }
}
