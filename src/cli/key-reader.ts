/** What a person did at the keyboard, as far as one key can say it. */
export type Key =
  | { readonly kind: "character"; readonly text: string }
  /** Ctrl-C or Ctrl-D. */
  | { readonly kind: "interrupt" }
  /** An arrow, a function key, or several characters at once: a paste, or a cat. Never an answer. */
  | { readonly kind: "other" }

/**
 * Makes keys of the bytes a terminal in raw mode sends. A sequence is swallowed whole, also when it comes in pieces:
 * the arrow up ends in the letter A and must not be taken for it.
 */
export class KeyReader {
  private readonly decoder = new TextDecoder()
  private state: "plain" | "escape" | "control" | "function" | "string" = "plain"

  push(bytes: Uint8Array): readonly Key[] {
    const characters: string[] = []
    let sawOther = false
    for (const character of this.decoder.decode(bytes, { stream: true })) {
      if (character === "\u0003" || character === "\u0004") return this.interrupted()
      if (this.isPlain(character)) characters.push(character)
      else sawOther = true
    }
    const [only] = characters
    if (only === undefined) return sawOther && this.state === "plain" ? [{ kind: "other" }] : []
    if (characters.length > 1 || sawOther) return [{ kind: "other" }]
    return [{ kind: "character", text: only }]
  }

  private interrupted(): readonly Key[] {
    this.state = "plain"
    return [{ kind: "interrupt" }]
  }

  /** False for a part of a sequence. */
  private isPlain(character: string): boolean {
    const { state } = this
    if (character === "\u001b") this.state = state === "string" ? "function" : "escape"
    else if (state === "plain") return true
    else if (state === "escape") this.state = openedBy(character)
    else if (state === "function") this.state = "plain"
    else if (state === "control" && character >= "@" && character <= "~") this.state = "plain"
    else if (state === "string" && character === "\u0007") this.state = "plain"
    return false
  }
}

function openedBy(character: string): "plain" | "control" | "function" | "string" {
  if (character === "[") return "control"
  if (character === "O" || character === "N") return "function"
  // Answers of the terminal to questions somebody else asked it. They end with a bell or with escape and a backslash.
  return "P]X^_".includes(character) ? "string" : "plain"
}
