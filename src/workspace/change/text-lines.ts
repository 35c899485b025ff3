/** A line and its end: an edit must write the ends that were there. */
export interface TextLine {
  readonly content: string
  readonly end: LineEnd
}

/** Empty only for a last line without a newline. */
export type LineEnd = "\n" | "\r\n" | ""

/**
 * A text by its lines. Holds only where each line starts: an object for each line of a large file would take many times
 * the memory of the file.
 */
export class TextLines {
  readonly count: number
  private readonly starts: Uint32Array

  constructor(readonly text: string) {
    this.starts = lineStarts(text)
    this.count = this.starts.length - 1
  }

  at(index: number): TextLine | null {
    if (index < 0 || index >= this.count) return null
    return { content: this.text.slice(this.starts[index], this.contentEnd(index)), end: this.end(index) }
  }

  /** Returns the text from the start of one line to the start of another. */
  between(from: number, to: number): string {
    return this.text.slice(this.starts[from], this.starts[to])
  }

  /** Compares a line without making a string of it. A carriage return at its end does not count. */
  isAt(index: number, content: string): boolean {
    const start = this.starts[index] ?? 0
    const end = this.contentEnd(index)
    const length = end - start - (this.text[end - 1] === "\r" && end > start ? 1 : 0)
    return content.length === length && this.text.startsWith(content, start)
  }

  private end(index: number): LineEnd {
    const next = this.starts[index + 1] ?? 0
    if (this.text[next - 1] !== "\n") return ""
    return next - 2 >= (this.starts[index] ?? 0) && this.text[next - 2] === "\r" ? "\r\n" : "\n"
  }

  private contentEnd(index: number): number {
    return (this.starts[index + 1] ?? 0) - this.end(index).length
  }
}

/** Returns where each line starts, followed by the end of the text. */
function lineStarts(text: string): Uint32Array {
  const newlines = countNewlines(text)
  const isEnded = text === "" || text.endsWith("\n")
  const starts = new Uint32Array(newlines + (isEnded ? 1 : 2))
  let at = 0
  for (let index = 1; index <= newlines; index++) {
    at = text.indexOf("\n", at) + 1
    starts[index] = at
  }
  starts[starts.length - 1] = text.length
  return starts
}

export function countNewlines(text: string, end = text.length): number {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count += 1
  return count
}

/** Joins lines and stretches of a text; an inner line without an end gets the most common end. */
export class JoinedLines {
  private readonly pieces: (string | null)[] = []
  private isOpen = false

  add(text: string, isOpen = text !== "" && !text.endsWith("\n")): void {
    if (text === "" && !isOpen) return
    if (this.isOpen) this.pieces.push(null)
    this.pieces.push(text)
    this.isOpen = isOpen
  }

  join(): string {
    const usual = this.pieces.includes(null) ? usualEnd(this.pieces.join("")) : ""
    return this.pieces.map(piece => piece ?? usual).join("")
  }
}

/** Returns the most common line end of a text. */
export function usualEnd(text: string): "\n" | "\r\n" {
  let returns = 0
  let newlines = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] === "\r") returns += 1
    else newlines += 1
  }
  return returns > newlines ? "\r\n" : "\n"
}

export function withoutReturn(content: string): string {
  return content.endsWith("\r") ? content.slice(0, -1) : content
}
