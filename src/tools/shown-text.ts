import type { RedactedSpan, Redactor } from "../redaction/contract.ts"

/** A text as it was shown to its reader, with the original of each line. */
export interface ShownText {
  readonly text: string
  readonly lines: readonly ShownLine[]
  /** The replaced parts, in order. */
  readonly replaced: readonly ReplacedPart[]
  /** Set when any part was replaced. */
  readonly isRedacted: boolean
}

export interface ReplacedPart {
  /** The offset in the shown text. */
  readonly at: number
  readonly shown: string
  readonly original: string
}

export interface ShownLine {
  /** The line without its line end. */
  readonly shown: string
  /** The original of the line, which may be many lines; null when it cannot be separated from its neighbours. */
  readonly original: string | null
  /** The first line of the original, counted from 1. */
  readonly line: number
  /** The offset of that line in the original. */
  readonly start: number
}

export function shownText(text: string, redactor: Redactor): ShownText {
  const spans = redactor.redactSpans(text)
  const replaced: ReplacedPart[] = []
  const pieces: string[] = []
  let [at, length] = [0, 0]
  for (const { start, end, replacement } of spans) {
    pieces.push(text.slice(at, start), replacement)
    length += start - at
    replaced.push({ at: length, shown: replacement, original: text.slice(start, end) })
    length += replacement.length
    at = end
  }
  pieces.push(text.slice(at))
  let lines: readonly ShownLine[] | null = null
  return {
    text: pieces.join(""),
    // Built on first use: a change beside the secrets of a large file needs none of them.
    get lines() {
      lines ??= shownLines(text, spans)
      return lines
    },
    replaced,
    isRedacted: spans.length > 0,
  }
}

/** Returns the line of the original that a line of the shown text stands for, both counted from 1. */
export function originalLine(shown: ShownText, line: number): number {
  const isMoved = shown.replaced.some(part => newlinesIn(part.shown) !== newlinesIn(part.original))
  return isMoved ? (shown.lines[line - 1]?.line ?? line) : line
}

function newlinesIn(text: string): number {
  return text.split("\n").length - 1
}

function shownLines(text: string, spans: readonly RedactedSpan[]): readonly ShownLine[] {
  const lines = new LineCollector()
  let at = 0
  for (const { start, end, replacement } of spans) {
    lines.keep(text.slice(at, start))
    lines.replace(text.slice(start, end), replacement)
    at = end
  }
  lines.keep(text.slice(at))
  return lines.end()
}

/** Splits a text and its original into lines at the same time. */
class LineCollector {
  private readonly lines: ShownLine[] = []
  private shown = ""
  private original: string | null = ""
  private line = 1
  private nextLine = 1
  private start = 0
  private at = 0

  keep(text: string): void {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) {
        this.at += 1
        this.endLine()
      }
      this.at += part.length
      this.shown += part
      if (this.original !== null) this.original += part
    }
  }

  replace(original: string, replacement: string): void {
    // A replacement includes the line end when a pattern of the user matched it.
    const endsLine = replacement.endsWith("\n") && original.endsWith("\n")
    const [shown, hidden] = endsLine
      ? [replacement.slice(0, -1), original.slice(0, -1)]
      : [replacement, original]
    this.nextLine += hidden.split("\n").length - 1
    this.at += original.length
    if (shown.includes("\n")) this.blur(shown)
    else {
      this.shown += shown
      if (this.original !== null) this.original += hidden
    }
    if (endsLine) this.endLine()
  }

  end(): readonly ShownLine[] {
    if (this.shown !== "" || this.original !== "") this.push()
    return this.lines
  }

  /** Records several lines that stand for one stretch of the original: none of them can be restored alone. */
  private blur(shown: string): void {
    for (const [index, part] of shown.split("\n").entries()) {
      if (index > 0) this.endLine(0)
      this.shown += part
      this.original = null
    }
  }

  private endLine(originalLines = 1): void {
    this.push()
    this.nextLine += originalLines
    this.line = this.nextLine
    this.start = this.at
    this.shown = ""
    this.original = ""
  }

  private push(): void {
    const { shown, original, line, start } = this
    const hasReturn = shown.endsWith("\r") && original?.endsWith("\r") === true
    this.lines.push({
      shown: hasReturn ? shown.slice(0, -1) : shown,
      original: hasReturn && original !== null ? original.slice(0, -1) : original,
      line,
      start,
    })
  }
}
