import type { Json } from "../base/canonical.ts"

const usualDepthMax = 64
/** Of a way in that is longer, its beginning says enough. */
const pathMax = 16

export interface UnusableJson {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/**
 * Something in a foreign value that must not go further: nesting on which a recursive reader overflows the stack, the
 * name that changes what an object is instead of what it holds, and numbers that are too large to be one. Null when
 * there is none.
 */
export function findUnusable(value: Json, depthMax = usualDepthMax): UnusableJson | null {
  const found = unusableAt(value, depthMax, 0)
  return found === null || found.path.length <= pathMax ? found : { ...found, path: found.path.slice(0, 4) }
}

/** Each piece of a streamed reply comes by here, so paths are made only when there is something to tell. */
function unusableAt(value: Json, depthMax: number, depth: number): UnusableJson | null {
  if (typeof value === "number" && !Number.isFinite(value))
    return { path: [], message: "is a number too large to be used" }
  if (typeof value !== "object" || value === null) return null
  if (depth >= depthMax) return { path: [], message: `is nested more than ${depthMax} levels deep` }
  if (!isList(value) && Object.hasOwn(value, "__proto__"))
    return { path: ["__proto__"], message: "is no name that can be used" }
  const members = isList(value) ? value : Object.values(value)
  for (let index = 0; index < members.length; index++) {
    const found = unusableAt(members[index] ?? null, depthMax, depth + 1)
    if (found === null) continue
    const name = isList(value) ? index : (Object.keys(value)[index] ?? "")
    return { ...found, path: [name, ...found.path] }
  }
  return null
}

/** `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
