import type { Json } from "../base/canonical.ts"

const depthMax = 64

export interface UnusableJson {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/**
 * The first thing in a foreign value that must not go further: nesting on which a recursive reader overflows the stack,
 * and the name that changes what an object is instead of what it holds. Null when there is none.
 */
export function findUnusable(value: Json): UnusableJson | null {
  const open: { readonly value: Json; readonly path: readonly (string | number)[] }[] = [{ value, path: [] }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: here, path } = next
    if (typeof here !== "object" || here === null) continue
    if (path.length >= depthMax)
      return { path: path.slice(0, 4), message: `is nested more than ${depthMax} levels deep` }
    if (!isList(here) && Object.hasOwn(here, "__proto__"))
      return { path: [...path, "__proto__"], message: "is no name that can be used" }
    const members = isList(here) ? here.entries() : Object.entries(here)
    for (const [key, member] of members) open.push({ value: member, path: [...path, key] })
  }
  return null
}

/** `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
