/** A line and what ends it: an edit must give back the ends that were there. */
export interface TextLine {
  readonly content: string
  readonly end: LineEnd
}

/** Empty only for a last line that nothing ends. */
export type LineEnd = "\n" | "\r\n" | ""

export function splitLines(text: string): TextLine[] {
  const lines: TextLine[] = []
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start)
    if (newline < 0) {
      lines.push({ content: text.slice(start), end: "" })
      break
    }
    const hasReturn = newline > start && text[newline - 1] === "\r"
    lines.push({
      content: text.slice(start, hasReturn ? newline - 1 : newline),
      end: hasReturn ? "\r\n" : "\n",
    })
    start = newline + 1
  }
  return lines
}

/** A line in the middle that nothing ends, which edits can leave behind, gets the end of its neighbours. */
export function joinLines(lines: readonly TextLine[]): string {
  const usual = usualEnd(lines)
  return lines
    .map(({ content, end }, index) => content + (end === "" && index < lines.length - 1 ? usual : end))
    .join("")
}

/** The end that most lines have. */
export function usualEnd(lines: readonly TextLine[]): "\n" | "\r\n" {
  let returns = 0
  let newlines = 0
  for (const { end } of lines) {
    if (end === "\r\n") returns += 1
    else if (end === "\n") newlines += 1
  }
  return returns > newlines ? "\r\n" : "\n"
}

export function withoutReturn(content: string): string {
  return content.endsWith("\r") ? content.slice(0, -1) : content
}
