const blockBytes = 64 * 1024

/** Chunks below this are copied together: kept one by one, a million one-byte writes would cost a hundred MB. */
const smallBytes = 4 * 1024

/** A queue of bytes that keeps large chunks as they came, without copying them. */
export class ChunkQueue {
  private chunks: Uint8Array[] = []
  /** Chunks before it are dropped; the array is shortened only now and then, which keeps dropping cheap. */
  private first = 0
  private block = new Uint8Array(0)
  private blockUsed = 0
  private sealedBytes = 0

  get bytes(): number {
    return this.sealedBytes + this.blockUsed
  }

  push(chunk: Uint8Array): void {
    if (chunk.length >= smallBytes) {
      this.seal()
      this.append(chunk)
      return
    }
    for (let rest = chunk; rest.length > 0; ) {
      if (this.blockUsed === this.block.length) {
        this.seal()
        this.block = new Uint8Array(blockBytes)
      }
      const taken = rest.subarray(0, this.block.length - this.blockUsed)
      this.block.set(taken, this.blockUsed)
      this.blockUsed += taken.length
      rest = rest.subarray(taken.length)
    }
  }

  /** Forgets the oldest bytes, whole chunks at a time, and keeps at least `bytesMin` of the newest. */
  dropOldest(bytesMin: number): void {
    for (;;) {
      const oldest = this.chunks[this.first]
      if (oldest === undefined || this.bytes - oldest.length < bytesMin) break
      this.sealedBytes -= oldest.length
      this.first += 1
    }
    if (this.first < 256) return
    this.chunks = this.chunks.slice(this.first)
    this.first = 0
  }

  /** Gives all the chunks away and is empty then, so that whoever joins them does not hold everything twice. */
  take(): readonly Uint8Array[] {
    this.seal()
    const taken = this.chunks.slice(this.first)
    this.chunks = []
    this.first = 0
    this.sealedBytes = 0
    return taken
  }

  private seal(): void {
    if (this.blockUsed > 0) this.append(this.block.subarray(0, this.blockUsed))
    // What is left of the block is used on: its two parts are separate chunks of one buffer.
    this.block = this.block.subarray(this.blockUsed)
    this.blockUsed = 0
  }

  private append(chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.sealedBytes += chunk.length
  }
}
