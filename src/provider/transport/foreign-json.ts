import type { Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { findUnusable } from "../limits.ts"
import { modelFailure, ReplyFault } from "../reply-fault.ts"

/** Parses JSON that a server wrote. Throws `ReplyFault` when it is invalid, or must not be processed. */
export function foreignJson(text: string): Json {
  const value = parsed(text)
  const unusable = findUnusable(value, depthMax)
  if (unusable !== null)
    throw new ReplyFault(modelFailure("malformed", `the answer contains something that ${unusable.message}`))
  return value
}

/** More than a call may have: problems of a call are reported to its model by the code that reads the call. */
const depthMax = 256

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message differs between versions; the beginning of the text is more useful.
    throw new ReplyFault(modelFailure("malformed", `the answer is not JSON: ${oneLine(text, 100)}`))
  }
}
