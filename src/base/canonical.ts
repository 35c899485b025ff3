/** A value that JSON can carry without loss. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * Returns the canonical text of a value: keys sorted by code unit, no spaces, no undefined. Two values have the same
 * canonical text exactly when they are equal, so a hash of the text identifies the value.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value)
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`not representable in JSON: ${value}`)
      return JSON.stringify(value)
    case "object":
      if (value === null) return "null"
      return Array.isArray(value) ? canonicalList(value) : canonicalObject(value)
    default:
      throw new TypeError(`not representable in JSON: ${typeof value}`)
  }
}

function canonicalList(list: readonly unknown[]): string {
  let items = ""
  for (let index = 0; index < list.length; index++)
    items += index === 0 ? canonicalJson(list[index]) : `,${canonicalJson(list[index])}`
  return `[${items}]`
}

function canonicalObject(object: object): string {
  let members = ""
  // Without a comparison function, sort orders by code unit.
  const names = Object.keys(object).sort()
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? ""
    // as: an object that is not an array has members of any kind, and nothing more is required of it.
    const member: unknown = (object as Readonly<Record<string, unknown>>)[name]
    if (member === undefined) continue
    members += `${members === "" ? "" : ","}${spelledName(name)}${canonicalJson(member)}`
  }
  return `{${members}}`
}

/** Caches the canonical text of property names: the same few names occur again and again. */
const spelledNames = new Map<string, string>()
const spelledMax = 1_000

function spelledName(name: string): string {
  const known = spelledNames.get(name)
  if (known !== undefined) return known
  const spelled = `${JSON.stringify(name)}:`
  if (spelledNames.size < spelledMax && name.length < 100) spelledNames.set(name, spelled)
  return spelled
}

export function sha256Hex(content: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex")
}

/**
 * Returns a keyed hash over length-prefixed fields. The prefixes keep `("ab","c")` and `("a","bc")` apart, which a
 * plain join would confuse.
 */
export function hmacHex(key: Uint8Array, fields: readonly string[]): string {
  let text = ""
  for (const field of fields) text += `${Buffer.byteLength(field)}:${field}`
  return new Bun.CryptoHasher("sha256", key).update(text).digest("hex")
}

/** Compares two secrets in time that does not depend on where they differ. */
export function equalsConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index)
  return difference === 0
}
