/** The measured times, sorted, in milliseconds. */
export interface Timing {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly count: number
}

/**
 * Measures several things in turns, so that whatever the machine does meanwhile happens to all of them. That is what
 * makes their ratios mean something on a machine that is not quiet.
 */
export async function interleaved(
  count: number,
  works: readonly (() => Promise<void> | void)[],
): Promise<Timing[]> {
  // What runs in this process gets faster for a while; a figure is about how fast it stays.
  const warmUps = Math.max(2, Math.ceil(count / 3))
  for (let run = 0; run < warmUps; run++) for (const work of works) await work()
  const samples = works.map((): number[] => [])
  for (let run = 0; run < count; run++) {
    // In alternating order, so that none always follows the same one: after a large program the caches are cold.
    for (let turn = 0; turn < works.length; turn++) {
      const index = run % 2 === 0 ? turn : works.length - 1 - turn
      const began = performance.now()
      await works[index]?.()
      samples[index]?.push(performance.now() - began)
    }
  }
  return samples.map(timingOf)
}

/**
 * Drops the first quarter of the samples, as `interleaved` does: a large program gets faster for hundreds of rounds,
 * its floor for twenty, and the figure compares the steady speed of both.
 */
export function staying(samples: readonly number[]): Timing {
  return timingOf(samples.slice(Math.ceil(samples.length / 4)))
}

/**
 * Measures work in memory by the processor time of this thread, which does not depend on other load. The system counts
 * it coarsely, so work is repeated until a sample is long enough.
 */
export function computed(samples: number, work: () => void): Timing {
  let batchSize = 1
  while (processorMs(batchSize, work) < 40) batchSize *= 2
  return timingOf(Array.from({ length: samples }, () => processorMs(batchSize, work) / batchSize))
}

function processorMs(batchSize: number, work: () => void): number {
  const before = process.threadCpuUsage()
  for (let run = 0; run < batchSize; run++) work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

export function timingOf(samples: readonly number[]): Timing {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), count: sorted.length }
}
