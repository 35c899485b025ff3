import type { Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { findUnusable } from "../limits.ts"
import { modelFailure, ReplyFault } from "../reply-fault.ts"

/** What a server wrote as JSON. Throws `ReplyFault` when it is none, or none that may go further. */
export function foreignJson(text: string): Json {
  const value = parsed(text)
  const unusable = findUnusable(value, depthMax)
  if (unusable !== null)
    throw new ReplyFault(modelFailure("malformed", `the answer holds something that ${unusable.message}`))
  return value
}

/** More than a call may have: what is wrong with one, its model is told by whoever reads it. */
const depthMax = 256

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message differs from version to version; the beginning says more.
    throw new ReplyFault(modelFailure("malformed", `the answer is not JSON: ${oneLine(text, 100)}`))
  }
}
