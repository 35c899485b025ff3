import type { Json } from "../base/canonical.ts"
import { nearest, oneLine } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { defaultConfig } from "./defaults.ts"
import type { Config } from "./schema.ts"

/** Values by dotted key: those that one source sets. */
export type Leaves = ReadonlyMap<string, Json>

/** Every dotted key with its default, without sections, in the order of the documentation. */
export const defaultLeaves: Leaves = new Map(leafEntries(defaultConfig, []))

/** The dotted names of all sections, which have no value of their own. */
export const sectionKeys: readonly string[] = sectionsOf([...defaultLeaves.keys()])

/** Returns the value of a key, or of a whole section. Throws ACODE-CFG-005 for an unknown key. */
export function getConfigValue(config: Config, dottedKey: string): Json {
  if (!defaultLeaves.has(dottedKey) && !sectionKeys.includes(dottedKey)) throw unknownKey(dottedKey)
  let value: Json = config
  for (const part of dottedKey.split(".")) value = memberOf(value, part)
  return value
}

export function unknownKey(dottedKey: string): Failure {
  const meant = nearest(dottedKey, [...defaultLeaves.keys(), ...sectionKeys])
  return new Failure({
    kind: "usage",
    code: "ACODE-CFG-005",
    message: `unknown configuration key ${oneLine(JSON.stringify(dottedKey), 80)}`,
    where: oneLine(dottedKey, 80),
    hint: meant === null ? "`acode config show` lists all keys" : `did you mean ${meant}?`,
  })
}

/** Flattens a valid document. Sections without content (`execution:` with nothing below) set no key. */
export function leavesOf(document: Json): Leaves {
  const found = new Map<string, Json>()
  for (const key of defaultLeaves.keys()) {
    let value: Json | undefined = document
    for (const part of key.split(".")) value = ownMember(value, part)
    if (value !== undefined) found.set(key, value)
  }
  return found
}

/** Returns the document with these values: the inverse of `leavesOf`. */
export function documentOf(leaves: Leaves): { [key: string]: Json } {
  const root: { [key: string]: Json } = {}
  for (const [key, value] of leaves) place(root, key.split("."), value)
  return root
}

/** Removes sections that are present without content, which YAML reads as null. */
export function withoutEmptySections(document: Json, path: readonly string[] = []): Json {
  if (!isMap(document)) return document
  const kept: { [key: string]: Json } = Object.create(null)
  for (const [key, value] of Object.entries(document)) {
    const inner = [...path, key]
    const isSection = sectionKeys.includes(inner.join("."))
    if (isSection && value === null) continue
    kept[key] = isSection ? withoutEmptySections(value, inner) : value
  }
  return kept
}

function leafEntries(value: Json, path: readonly string[]): [string, Json][] {
  if (!isMap(value) || Object.keys(value).length === 0) return [[path.join("."), value]]
  return Object.entries(value).flatMap(([key, member]) => leafEntries(member, [...path, key]))
}

function sectionsOf(keys: readonly string[]): string[] {
  const sections = new Set<string>()
  for (const key of keys) {
    const parts = key.split(".")
    for (let length = 1; length < parts.length; length++) sections.add(parts.slice(0, length).join("."))
  }
  return [...sections]
}

function memberOf(value: Json, key: string): Json {
  return ownMember(value, key) ?? null
}

/** Returns the own member of a map; undefined for an inherited member and for values that are not maps. */
export function ownMember(value: Json | undefined, key: string): Json | undefined {
  return value !== undefined && isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function place(map: { [key: string]: Json }, path: readonly string[], value: Json): void {
  const [first = "", ...rest] = path
  if (rest.length === 0) {
    map[first] = value
    return
  }
  const inner: { [key: string]: Json } = {}
  const existing = map[first]
  if (existing !== undefined && isMap(existing)) Object.assign(inner, existing)
  place(inner, rest, value)
  map[first] = inner
}

function isMap(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
