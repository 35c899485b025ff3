import { staying } from "./measure.ts"

export interface Sampled {
  take(): void
  /** Discards the samples so far. */
  forget(): void
  p50(): number
}

/** Measures work that is repeated; the first samples do not count, because they are slower. */
export function sampled(work: () => void): Sampled {
  const samples: number[] = []
  return {
    take: () => {
      const began = performance.now()
      work()
      samples.push(performance.now() - began)
    },
    forget: () => void samples.splice(0),
    p50: () => staying(samples).p50,
  }
}
