/** Which lines to keep, counted from 1, and how many bytes of them at most. */
export interface LineRange {
  readonly fromLine: number
  readonly lineCount: number
  readonly bytesMax: number
}

/**
 * Lets a file of any size flow past and keeps one range of its lines. Nothing else is kept, so memory does not depend
 * on the size of the file nor on the length of its longest line.
 */
export class LineWindow {
  private readonly kept: Uint8Array[] = []
  private keptBytes = 0
  private newlines = 0
  private lastByte = newline
  private cut = false

  constructor(private readonly range: LineRange) {}

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    // The line that the next byte belongs to.
    let line = this.newlines + 1
    const { fromLine, lineCount } = this.range
    const lineAfter = fromLine + lineCount
    let start = line < fromLine ? chunk.length : 0
    let end = line < lineAfter ? chunk.length : 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
      line += 1
      if (line === fromLine) start = at + 1
      if (line === lineAfter) end = at + 1
    }
    this.newlines = line - 1
    this.lastByte = chunk[chunk.length - 1] ?? newline
    if (start < end) this.keep(chunk.subarray(start, end))
  }

  end(): { readonly bytes: Uint8Array; readonly totalLines: number; readonly cut: boolean } {
    return {
      bytes: Buffer.concat(this.kept),
      totalLines: this.newlines + (this.lastByte === newline ? 0 : 1),
      cut: this.cut,
    }
  }

  private keep(piece: Uint8Array): void {
    const room = this.range.bytesMax - this.keptBytes
    if (piece.length > room) this.cut = true
    if (room <= 0) return
    // A copy, because the memory of a chunk is used for the next one.
    const part = new Uint8Array(piece.subarray(0, room))
    this.kept.push(part)
    this.keptBytes += part.length
  }
}

const newline = 0x0a
