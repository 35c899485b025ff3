import type { Json } from "../../base/canonical.ts"
import { foreignJson } from "./foreign-json.ts"
import { linesOf } from "./lines.ts"

/** One value for each line that is not blank, together as they came. Throws `ReplyFault` at a line that is no JSON. */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Iterable<Json>> {
  for await (const lines of linesOf(chunks)) yield valuesIn(lines)
}

function* valuesIn(lines: Iterable<string>): Generator<Json> {
  for (const line of lines) if (line.trim() !== "") yield foreignJson(line)
}
