import type { Json } from "../../base/canonical.ts"
import type { Taker } from "../streamed-items.ts"
import { foreignJson } from "./foreign-json.ts"
import { lineReader } from "./lines.ts"

/** One value for each line that is not blank. Throws `ReplyFault` at a line that is no JSON. */
export function jsonLineReader(values: Taker<Json>): Taker<Uint8Array> {
  return lineReader({
    take: line => {
      if (line.trim() !== "") values.take(foreignJson(line))
    },
    end: () => values.end(),
  })
}
