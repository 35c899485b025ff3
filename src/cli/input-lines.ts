const lineBytesMax = 1024 * 1024
const newline = 0x0a

/** The lines of a stream in bounded memory; null stands for one that is too long or not UTF-8. */
export async function* inputLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  let held: Uint8Array[] = []
  let size = 0
  const hold = (bytes: Uint8Array) => {
    size += bytes.length
    if (size <= lineBytesMax) held.push(bytes)
    else held = []
  }
  const taken = () => {
    const line = size > lineBytesMax ? null : textOf(Buffer.concat(held))
    held = []
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end))
      yield taken()
      start = end + 1
    }
    // A copy, since the stream may fill the same memory again; a Buffer's own slice would share it.
    hold(Uint8Array.from(chunk.subarray(start)))
  }
  if (size > 0) yield taken()
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    // The decoder has one thing to complain about, and the caller is told it as null.
    return null
  }
}
