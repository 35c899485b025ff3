import type { CodePlace } from "../../domain/code/symbol.ts"

/** Packs places as differences from the previous one, seven bits per byte: most places take two or three bytes. */
export function packPlaces(places: readonly CodePlace[]): Uint8Array {
  const bytes: number[] = []
  let before: CodePlace = { byteStart: 0, line: 0 }
  for (const place of places) {
    pushNumber(bytes, place.byteStart - before.byteStart)
    pushNumber(bytes, place.line - before.line)
    before = place
  }
  return Uint8Array.from(bytes)
}

export function unpackPlaces(bytes: Uint8Array): readonly CodePlace[] {
  const places: CodePlace[] = []
  const position = { at: 0 }
  let byteStart = 0
  let line = 0
  while (position.at < bytes.length) {
    byteStart += readNumber(bytes, position)
    line += readNumber(bytes, position)
    places.push({ byteStart, line })
  }
  return places
}

function pushNumber(bytes: number[], value: number): void {
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  bytes.push(rest)
}

function readNumber(bytes: Uint8Array, position: { at: number }): number {
  let value = 0
  let factor = 1
  while (position.at < bytes.length) {
    const byte = bytes[position.at] ?? 0
    position.at += 1
    value += (byte % 0x80) * factor
    if (byte < 0x80) break
    factor *= 0x80
  }
  return value
}
