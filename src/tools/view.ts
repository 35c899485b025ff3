/**
 * A text cut to what a model is shown. Both ends are kept, because what failed stands at the end and what was asked
 * at the beginning, and the gap says how much is missing. The text must be redacted: a cut could split a secret.
 */
export function boundedView(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  const bytes = Buffer.from(text, "utf8")
  const head = wholeEnd(bytes, Math.floor(bytesMax / 2))
  const tail = wholeStart(bytes, bytes.length - Math.floor(bytesMax / 2))
  const gap = `\n[… ${tail - head} of ${bytes.length} bytes are not shown …]\n`
  return bytes.toString("utf8", 0, head) + gap + bytes.toString("utf8", tail)
}

function wholeEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while (end > 0 && isContinuation(bytes[end])) end -= 1
  return end
}

function wholeStart(bytes: Uint8Array, at: number): number {
  let start = at
  while (start < bytes.length && isContinuation(bytes[start])) start += 1
  return start
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
