export interface EventuallyOptions {
  /** Generous, because the machine may be busy: it is only spent when the condition never comes true. */
  readonly timeoutMs?: number
  readonly everyMs?: number
}

/** Polls until `probe` gives something truthy, and gives that; throws with the last thing seen after the bound. */
export async function eventually<Value>(
  what: string,
  probe: () => Value | Promise<Value>,
  { timeoutMs = 45_000, everyMs = 10 }: EventuallyOptions = {},
): Promise<NonNullable<Value>> {
  const giveUpAt = performance.now() + timeoutMs
  for (;;) {
    const value = await probe()
    if (value) return value
    if (performance.now() > giveUpAt)
      throw new Error(`not within ${timeoutMs} ms: ${what} (last seen: ${JSON.stringify(value)})`)
    await Bun.sleep(everyMs)
  }
}
