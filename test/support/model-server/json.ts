import type { Json } from "../../../src/base/canonical.ts"

type JsonObject = { readonly [key: string]: Json }

/** Returns the member at a path of a foreign value; null when there is none. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json {
  let here: Json = value ?? null
  for (const step of path) {
    if (Array.isArray(here) && typeof step === "number") here = here[step] ?? null
    else if (isObject(here) && typeof step === "string") here = here[step] ?? null
    else return null
  }
  return here
}

export function listAt(value: Json, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

export function textAt(value: Json, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  return typeof found === "string" ? found : ""
}

export function objectAt(value: Json, ...path: readonly (string | number)[]): JsonObject {
  const found = at(value, ...path)
  return isObject(found) ? found : {}
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
