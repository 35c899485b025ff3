import type { TextEncoding, TextFormat } from "../contract.ts"
export interface DecodedText {
  readonly text: string
  readonly format: TextFormat
}

/** Decodes bytes; returns null when they are not text. The byte order mark is part of the format, not of the text. */
export function decodeText(bytes: Uint8Array): DecodedText | null {
  const detected = detectFormat(bytes.subarray(0, sampleBytes))
  if (detected === null) return null
  const body = detected.bom ? bytes.subarray(bomOf(detected.encoding).length) : bytes
  // Half a character at the end would be lost when the text is encoded again.
  if (isWide(detected.encoding) && body.length % 2 === 1) return null
  const format = detected.encoding === "utf-8" && !isUtf8(body) ? byteFormat(body) : detected
  if (format.encoding === "latin1" && detected.bom) return null
  return { text: decodeBody(body, format.encoding), format }
}

/** Encodes text; returns null when the encoding lacks a character. */
export function encodeText(text: string, format: TextFormat): Uint8Array | null {
  const body = encodeBody(text, format.encoding)
  if (body === null || !format.bom) return body
  return Buffer.concat([bomOf(format.encoding), body])
}

/**
 * Returns the format that the first bytes indicate; null for binary. As in git, a NUL byte without a byte order mark is
 * binary. Only the whole file shows whether it is UTF-8.
 */
export function detectFormat(head: Uint8Array): TextFormat | null {
  for (const encoding of marked) {
    const bom = bomOf(encoding)
    if (head[0] === bom[0] && bom.every((byte, index) => head[index] === byte)) return { encoding, bom: true }
  }
  return head.subarray(0, sampleBytes).includes(0) ? null : { encoding: "utf-8", bom: false }
}

const marked = ["utf-8", "utf-16le", "utf-16be"] as const

export function bomOf(encoding: TextEncoding): Uint8Array {
  return byteOrderMarks[encoding]
}

/** Reports whether every character takes two bytes or four. */
export function isWide(encoding: TextEncoding): boolean {
  return encoding === "utf-16le" || encoding === "utf-16be"
}

/** The bytes that are examined to distinguish text from binary, as in git. */
const sampleBytes = 8000

/** Returns the format of bytes that are not UTF-8: each byte is one character, whatever encoding was meant. */
function byteFormat(bytes: Uint8Array): TextFormat {
  const latin1: TextFormat = { encoding: "latin1", bom: false }
  let balance = 0
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
    const isSequence = length > 1 && isContinued(bytes, at + 1, at + length)
    if (first >= 0x80) balance += isSequence ? 1 : -1
    at += isSequence ? length : 1
  }
  return balance > 0 ? { ...latin1, isMixed: true } : latin1
}

function isContinued(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return false
  return true
}

const byteOrderMarks: Readonly<Record<TextEncoding, Uint8Array>> = {
  "utf-8": Uint8Array.of(0xef, 0xbb, 0xbf),
  "utf-16le": Uint8Array.of(0xff, 0xfe),
  "utf-16be": Uint8Array.of(0xfe, 0xff),
  latin1: new Uint8Array(0),
}

/** Reports whether the bytes themselves are UTF-8: a decoder that replaces invalid bytes would lose them. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes)
    return true
  } catch {
    // The strict decoder throws only for invalid bytes.
    return false
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decodeBody(body: Uint8Array, encoding: TextEncoding): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (encoding === "utf-16be") return swapped(bytes).toString("utf16le")
  return bytes.toString(encoding === "utf-16le" ? "utf16le" : encoding === "latin1" ? "latin1" : "utf8")
}

function encodeBody(text: string, encoding: TextEncoding): Uint8Array | null {
  switch (encoding) {
    case "utf-8":
      return text.isWellFormed() ? Buffer.from(text, "utf8") : null
    case "latin1":
      return /[\u0100-\uffff]/.test(text) ? null : Buffer.from(text, "latin1")
    case "utf-16le":
      return Buffer.from(text, "utf16le")
    case "utf-16be":
      return swapped(Buffer.from(text, "utf16le"))
  }
}

function swapped(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes).swap16()
}
