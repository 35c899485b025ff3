import type { RedactedSpan, Redactor } from "../policy/contract.ts"

/** A text as its reader was shown it, and what each of its lines stands for. */
export interface ShownText {
  readonly text: string
  readonly lines: readonly ShownLine[]
  /** Whether anything was replaced. */
  readonly isRedacted: boolean
}

export interface ShownLine {
  /** Without its line end. */
  readonly shown: string
  /** The text in the place of it, which may be many lines; null when that cannot be told apart from its neighbours. */
  readonly original: string | null
  /** Where it begins in the original, counted from 1. */
  readonly line: number
  /** The same as a place in the text. */
  readonly start: number
}

export function shownText(text: string, redactor: Redactor): ShownText {
  const spans = redactor.redactSpans(text)
  return spans.length === 0 ? plainText(text) : redactedText(text, spans)
}

/** Nobody asks for the lines of a text that is shown as it is, but for one who writes a marker into it. */
function plainText(text: string): ShownText {
  return {
    text,
    get lines() {
      const lines = new LineCollector()
      lines.keep(text)
      return lines.end()
    },
    isRedacted: false,
  }
}

function redactedText(text: string, spans: readonly RedactedSpan[]): ShownText {
  const lines = new LineCollector()
  let shown = ""
  let at = 0
  for (const { start, end, replacement } of spans) {
    const kept = text.slice(at, start)
    lines.keep(kept)
    lines.replace(text.slice(start, end), replacement)
    shown += kept + replacement
    at = end
  }
  const rest = text.slice(at)
  lines.keep(rest)
  return { text: shown + rest, lines: lines.end(), isRedacted: true }
}

/** Cuts a text and its original into lines at the same time. */
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
    // Replaced lines come with their end when a person's own pattern matched in them.
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

  /** Several lines that stand for one stretch of the original: none of them can be put back alone. */
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
