import { charactersIn } from "./token-estimate.ts"

/** About what the remark behind a head takes. */
const remarkTokens = 30

/** The beginning of a text that takes about so many tokens with the remark behind it; the text itself when it fits. */
export function headOf(text: string, tokens: number, remark: (kept: string) => string): string {
  if (charactersIn(text, tokens) >= text.length) return text
  const kept = wholeLines(text.slice(0, charactersIn(text, tokens - remarkTokens)))
  return `${kept}${kept === "" || kept.endsWith("\n") ? "" : "\n"}[${remark(kept)}]`
}

/** How much is missing behind a head, and what to do about it. */
export function missing(text: string, how: string): (kept: string) => string {
  return kept =>
    `${text.length - kept.length} ${kept === "" ? "" : "more "}characters are left out to fit the context${how}`
}

/** Up to the last line end, unless that is most of it; never half of a character. */
function wholeLines(text: string): string {
  const end = text.lastIndexOf("\n") + 1
  if (end > text.length / 2) return text.slice(0, end)
  return text.isWellFormed() ? text : text.slice(0, -1)
}
