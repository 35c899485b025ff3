import type { Json } from "../../base/canonical.ts"

interface TextRedactor {
  redactText(text: string): string
}

/** The same value with every text in it redacted; where there is nothing to redact, the very value that was given. */
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

/** `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/**
 * Whether a path of the log had its name, or a part of it, replaced by the redactor. Nobody can tell then which file
 * it was, and looking for it finds nothing, which must not be taken for an answer.
 */
export function isRedactedPath(path: string): boolean {
  return /\[REDACTED:[a-z-]+\]/.test(path)
}
