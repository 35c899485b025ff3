const smallBytes = 64 * 1024

/**
 * Keeps the newest bytes of a stream, up to a capacity, in one buffer of its own. Keeping the chunks themselves would
 * save the copy and cost far more: a chunk that is dropped after a while has grown old, and the collector leaves old
 * garbage lying until there are a hundred megabytes of it.
 */
export class ByteWindow {
  private buffer = new Uint8Array(0)
  /** Where the next byte goes. */
  private end = 0
  private isWrapped = false

  constructor(readonly capacity: number) {}

  get bytes(): number {
    return this.isWrapped ? this.capacity : this.end
  }

  push(chunk: Uint8Array): void {
    const wanted = chunk.length > this.capacity ? chunk.subarray(chunk.length - this.capacity) : chunk
    this.makeRoom(wanted.length)
    const first = wanted.subarray(0, this.buffer.length - this.end)
    this.buffer.set(first, this.end)
    this.end += first.length
    const rest = wanted.subarray(first.length)
    if (rest.length === 0) return
    this.buffer.set(rest, 0)
    this.end = rest.length
    this.isWrapped = true
  }

  /** Gives the bytes away, oldest first, and is empty then. */
  take(): Uint8Array {
    const taken = this.buffer.subarray(0, this.bytes)
    if (this.isWrapped) rotate(taken, this.end)
    this.buffer = new Uint8Array(0)
    this.end = 0
    this.isWrapped = false
    return taken
  }

  /**
   * Small output is the rule and gets a small buffer. Beyond it the whole capacity is taken at once: memory that is not
   * written to costs nothing, while growing step by step would leave as much garbage as it gains.
   */
  private makeRoom(more: number): void {
    const wanted = this.end + more
    if (wanted <= this.buffer.length || this.buffer.length === this.capacity) return
    const grown = new Uint8Array(wanted <= smallBytes ? Math.min(smallBytes, this.capacity) : this.capacity)
    grown.set(this.buffer.subarray(0, this.end))
    this.buffer = grown
  }
}

/** Moves the first `count` bytes behind the others, in place: turning both parts and then the whole needs no copy. */
function rotate(bytes: Uint8Array, count: number): void {
  bytes.subarray(0, count).reverse()
  bytes.subarray(count).reverse()
  bytes.reverse()
}
