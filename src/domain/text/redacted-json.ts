import type { Json } from "../../base/canonical.ts"

interface TextRedactor {
  redactText(text: string): string
}

/** Returns a value with every text in it redacted; the given object itself if there is nothing to redact. */
export function redactJson(value: Json, redactor: TextRedactor, withNames = true): Json {
  if (typeof value === "string") return redactor.redactText(value)
  if (typeof value !== "object" || value === null) return value
  if (isList(value)) {
    const items = value.map(item => redactJson(item, redactor, withNames))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  let isSame = true
  const members: [name: string, member: Json][] = []
  for (const name of Object.keys(value)) {
    const before = value[name]
    if (before === undefined) continue
    const member = redactJson(before, redactor, withNames)
    const newName = withNames ? redactor.redactText(name) : name
    isSame &&= member === before && newName === name
    members.push([newName, member])
  }
  return isSame ? value : Object.fromEntries(members)
}

/** Returns whether a value is an array; `Array.isArray` does not narrow to a read-only one. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/**
 * Returns whether the redactor replaced the name of a path in the log, or a part of it. The file is then unknown, and
 * finding nothing at that path does not mean that the file is absent.
 */
export function isRedactedPath(path: string): boolean {
  return /\[REDACTED:[a-z-]+\]/.test(path)
}
