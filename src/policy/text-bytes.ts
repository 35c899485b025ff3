/**
 * Text as bytes and back without loss. A lone surrogate has no UTF-8 form; it becomes the three bytes it would have
 * by the same scheme, which valid UTF-8 never contains. Replacing it by U+FFFD would alter what is no secret.
 */
export function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text, "utf8")
  return Buffer.concat(
    text.split(/([\ud800-\udfff])/u).map((piece, index) => {
      if (index % 2 === 0) return Buffer.from(piece, "utf8")
      const unit = piece.charCodeAt(0)
      return Buffer.from([0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
    }),
  )
}

export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let text = ""
  let from = 0
  for (let at = buffer.indexOf(0xed); at >= 0; at = buffer.indexOf(0xed, at + 1)) {
    const second = buffer[at + 1] ?? 0
    if (second < 0xa0) continue
    const unit = 0xd000 | ((second & 0x3f) << 6) | ((buffer[at + 2] ?? 0) & 0x3f)
    text += buffer.toString("utf8", from, at) + String.fromCharCode(unit)
    from = at + 3
  }
  return text + buffer.toString("utf8", from)
}
