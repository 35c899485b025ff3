/** Random choices that a seed repeats: the same seed gives the same choices in the same order. */
export interface Random {
  /** From 0 up to, and without, `below`. */
  whole(below: number): number
  oneOf<Value>(values: readonly Value[]): Value
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32: small, even enough, and the same on every machine.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const whole = (below: number) => Math.floor(next() * below)
  return {
    whole,
    oneOf: values => {
      const value = values[whole(values.length)]
      if (value === undefined) throw new Error("nothing to choose from")
      return value
    },
  }
}
