import type { Json } from "../../base/canonical.ts"
import { foreignJson } from "./foreign-json.ts"
import { linesOf } from "./lines.ts"

/** One value for each line that is not blank. Throws `ReplyFault` at a line that is no JSON. */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Json> {
  for await (const line of linesOf(chunks)) if (line.trim() !== "") yield foreignJson(line)
}
