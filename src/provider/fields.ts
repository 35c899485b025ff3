import type { Json } from "../base/canonical.ts"
import { modelFailure, ReplyFault } from "./reply-fault.ts"

/**
 * A JSON object that a server wrote. Of the readers, `…Of` returns null or nothing for another type, `…At` throws
 * because the reply is broken.
 */

export type JsonObject = { readonly [name: string]: Json }

/** Returns null for anything but an object. */
export function objectOf(value: Json | undefined): JsonObject | null {
  return typeof value === "object" && value !== null && !isList(value) ? value : null
}

/** Returns an empty list for anything but a list: servers write null, or nothing, for none. */
export function listOf(value: Json | undefined): readonly Json[] {
  return value !== undefined && isList(value) ? value : []
}

export function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null
}

/** Returns null for anything but text, and for empty text. */
export function nonEmptyText(value: Json | undefined): string | null {
  return textOrNull(value) || null
}

/** Returns null for an impossible number of tokens: a server that counts wrongly must not exhaust a budget. */
export function tokenCount(value: Json | undefined): number | null {
  if (typeof value !== "number" || !Number.isInteger(value)) return null
  return value >= 0 && value <= tokensMax ? value : null
}

const tokensMax = 100_000_000

/** Returns null also for zero, by which servers say that they do not know the window. */
export function windowOf(value: Json | undefined): number | null {
  return tokenCount(value) || null
}

/** Returns a list, empty when it is missing. */
export function listAt(object: JsonObject, name: string): readonly Json[] {
  const value = object[name] ?? null
  if (value === null) return []
  if (!isList(value)) throw wrong(name, "a list")
  return value
}

/** Returns text, empty when it is missing. */
export function textField(object: JsonObject, name: string): string {
  const value = object[name] ?? ""
  if (typeof value !== "string") throw wrong(name, "text")
  return value
}

/** Returns null when the object is missing. */
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

/** Narrows to a list: `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
