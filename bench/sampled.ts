import { staying } from "./measure.ts"

export interface Sampled {
  take(): void
  /** What was measured before says nothing about what comes. */
  forget(): void
  p50(): number
}

/** Times of something that is done again and again; the first ones are left out, for they are slower. */
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
