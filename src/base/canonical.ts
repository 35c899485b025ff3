/** A value that JSON can carry without loss. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * The one spelling of a value: keys sorted by code unit, no spaces, no undefined. Two values have the same
 * canonical text exactly when they are equal, which is what makes a hash of it mean something.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value)
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`not representable in JSON: ${value}`)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object") throw new TypeError(`not representable in JSON: ${typeof value}`)
  let members = ""
  // Without a comparison the order is that of code units, which is the one that is meant.
  for (const key of Object.keys(value).sort()) {
    // as: an object that is no list has members of any kind, and that is all that is asked of it.
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key]
    if (member === undefined) continue
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`
  }
  return `{${members}}`
}

export function sha256Hex(content: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex")
}

/**
 * Keyed hash over length-prefixed fields. The prefixes keep `("ab","c")` and `("a","bc")` apart, which a plain
 * join would confuse.
 */
export function hmacHex(key: Uint8Array, fields: readonly string[]): string {
  let text = ""
  for (const field of fields) text += `${Buffer.byteLength(field)}:${field}`
  return new Bun.CryptoHasher("sha256", key).update(text).digest("hex")
}

/** Compares secrets in time that does not depend on where they differ. */
export function equalsConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index)
  return difference === 0
}
