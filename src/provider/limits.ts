import type { Json } from "../base/canonical.ts"
import { oneLine } from "../base/text.ts"

/** The most calls of one reply; further ones are not made. */
export const callsMax = 200

/** The most bytes of arguments, as JSON; longer ones are not used. */
export const argumentBytesMax = 1_000_000

/** The problem reported to a model that exceeds a limit: the same request again would get the same answer. */
export const tooManyCalls =
  `the reply calls more than ${callsMax} tools at once: only the first ${callsMax} were called, ` +
  "call fewer at a time"

/** Returns why the arguments cannot be used; null when they can. */
export function unusableArguments(tool: string, args: Json): string | null {
  const unusable = findUnusable(args)
  if (unusable === null) return null
  return `the arguments of the call of ${oneLine(tool, 80)} cannot be used: one ${unusable.message}`
}

export function tooLongArguments(tool: string): string {
  return (
    `the arguments of the call of ${oneLine(tool, 80)} are longer than ${argumentBytesMax} bytes, so it was not ` +
    "called: do it in smaller parts"
  )
}

const usualDepthMax = 64
/** The longest path to report in full; of a longer one only the beginning is reported. */
const pathMax = 16

interface UnusableJson {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/**
 * Returns the first part of an untrusted value that must not be processed: nesting on which a recursive reader
 * overflows the stack, the name that changes what an object is instead of what it holds, and numbers that are too
 * large. Null when there is none.
 */
export function findUnusable(value: Json, depthMax = usualDepthMax): UnusableJson | null {
  const found = unusableAt(value, depthMax, 0)
  return found === null || found.path.length <= pathMax ? found : { ...found, path: found.path.slice(0, 4) }
}

/** Finds it without making paths unless there is a problem, because each piece of a streamed reply is checked. */
function unusableAt(value: Json, depthMax: number, depth: number): UnusableJson | null {
  if (typeof value === "number" && !Number.isFinite(value))
    return { path: [], message: "is a number too large to be used" }
  if (typeof value !== "object" || value === null) return null
  if (depth >= depthMax) return { path: [], message: `is nested more than ${depthMax} levels deep` }
  if (!isList(value) && Object.hasOwn(value, "__proto__"))
    return { path: ["__proto__"], message: "is not a usable name" }
  const members = isList(value) ? value : Object.values(value)
  for (let index = 0; index < members.length; index++) {
    const found = unusableAt(members[index] ?? null, depthMax, depth + 1)
    if (found === null) continue
    const name = isList(value) ? index : (Object.keys(value)[index] ?? "")
    return { ...found, path: [name, ...found.path] }
  }
  return null
}

/** Narrows to a list: `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** Returns the id of a call that came without a usable one; the same when the reply is read again. */
export function ownCallId(replyIndex: number, callIndex: number): string {
  return `call_${replyIndex}_${callIndex}`
}
