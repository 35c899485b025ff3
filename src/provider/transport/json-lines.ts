import type { Json } from "../../base/canonical.ts"
import { foreignJson } from "./foreign-json.ts"
import { createLineReader } from "./lines.ts"

/** One value for each line that is not blank, together as they came. Throws `ReplyFault` at a line that is no JSON. */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Iterable<Json>> {
  const lines = createLineReader()
  for await (const chunk of chunks) yield valuesIn(lines.take(chunk))
  yield valuesIn(lines.rest())
}

function* valuesIn(lines: Iterable<string>): Generator<Json> {
  for (const line of lines) if (line.trim() !== "") yield foreignJson(line)
}
