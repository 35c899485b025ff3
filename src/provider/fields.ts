import type { Json } from "../base/canonical.ts"
import { modelFailure, ReplyFault } from "./reply-fault.ts"

/** Reading what a server wrote. `…Of` takes what is of another kind for nothing, `…At` for a reply that is broken. */

export type JsonObject = { readonly [name: string]: Json }

/** Null for everything that is no object. */
export function objectOf(value: Json | undefined): JsonObject | null {
  return typeof value === "object" && value !== null && !isList(value) ? value : null
}

/** Empty for everything that is no list: servers write null, or nothing, for none. */
export function listOf(value: Json | undefined): readonly Json[] {
  return value !== undefined && isList(value) ? value : []
}

export function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null
}

/** Null for everything that is no text, and for text without a character. */
export function wordsOf(value: Json | undefined): string | null {
  return textOrNull(value) || null
}

/** Null for what can be no number of tokens: a server that counts wrongly must not end a budget. */
export function tokenCount(value: Json | undefined): number | null {
  if (typeof value !== "number" || !Number.isInteger(value)) return null
  return value >= 0 && value <= tokensMax ? value : null
}

const tokensMax = 100_000_000

/** A window of no tokens is how servers say that they do not know it. */
export function windowOf(value: Json | undefined): number | null {
  return tokenCount(value) || null
}

/** A list, which may be left out. */
export function listAt(object: JsonObject, name: string): readonly Json[] {
  const value = object[name] ?? null
  if (value === null) return []
  if (!isList(value)) throw wrong(name, "a list")
  return value
}

/** Empty when it is left out. */
export function textField(object: JsonObject, name: string): string {
  const value = object[name] ?? ""
  if (typeof value !== "string") throw wrong(name, "text")
  return value
}

/** Null when it is left out. */
export function objectAt(object: JsonObject, name: string): JsonObject | null {
  const value = object[name] ?? null
  if (value === null) return null
  const found = objectOf(value)
  if (found === null) throw wrong(name, "an object")
  return found
}

export function unreadable(message: string): ReplyFault {
  return new ReplyFault(modelFailure("malformed", message))
}

function wrong(name: string, instead: string): ReplyFault {
  return unreadable(`the server's reply cannot be used: its ${name} is not ${instead}`)
}

/** `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
