import { assert } from "../../base/assert.ts"
import { canonicalJson, type Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import type { NewEvent } from "../../domain/events/definition.ts"
import { manifest } from "../../domain/events/manifest.ts"
import { redactJson } from "../../domain/text/redacted-json.ts"
import type { StoreRedactor } from "../contract.ts"

/** An event that is ready to be written: declared, redacted, in its canonical form. */
export interface PreparedEvent {
  readonly type: string
  readonly version: number
  readonly data: Json
  readonly text: string
}

/**
 * Redacts an event and checks it against its definition. Every event passes here; the result is what is hashed, stored
 * and projected.
 */
export function prepareEvent(event: NewEvent, given: StoreRedactor): PreparedEvent {
  const redactor = keepingIds(given)
  const definition = manifest.find(event.type, event.version)
  assert(definition !== null, `event ${event.type}@${event.version} is declared in the manifest`)
  // What a definition infers is JSON by construction; canonicalJson fails on anything else.
  const original = event.data as Json
  const text = canonicalJson(original)
  const isValid = (data: Json) => definition.data.safeParse(data)
  const data = redactedData(original, redactor, isValid)
  return {
    type: event.type,
    version: event.version,
    data,
    text: data === original ? text : canonicalJson(data),
  }
}

/**
 * Returns a redactor that keeps the ids and hashes that acode made, whatever pattern a user or a project defined as a
 * secret: if they were replaced by one text, events would refer to the wrong objects.
 */
const keepingIds = onceFor(
  (redactor: StoreRedactor): TextRedactor => ({
    redactText: text => (ownId.test(text) ? text : redactor.redactText(text)),
  }),
)

const ownId = /^(?:[a-z]{3}_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|sha256:[0-9a-f]{64})$/

type TextRedactor = Pick<StoreRedactor, "redactText">

interface Validity {
  readonly success: boolean
  readonly error?: {
    readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
  }
}

/**
 * Redacts every string, member names included. Returns the same value if there is nothing to redact; checks only a
 * changed one against its definition, because the compiler has checked the rest. A secret may by chance equal a word of
 * the vocabulary (an ending, a member's name): replacing that would make the event unreadable and hide nothing, so such
 * places keep their word.
 */
function redactedData(original: Json, redactor: TextRedactor, check: (data: Json) => Validity): Json {
  if (isClean(original, redactor)) return original
  const everything = redactJson(original, redactor)
  if (check(everything).success) return everything
  const values = redactJson(original, redactor, false)
  if (values === original) return original
  const validity = check(values)
  if (validity.success) return values
  const paths = validity.error?.issues.map(issue => issue.path.map(String)) ?? []
  const repaired = paths.reduce((data, path) => withOriginalAt(data, original, path), values)
  const last = check(repaired)
  const issue = last.error?.issues[0]
  assert(last.success, `the event is valid: ${issue?.path.map(String).join(".")} ${issue?.message}`)
  return repaired
}

/** Returns whether a value holds no secret, which is true of nearly every event. Allocates almost nothing. */
function isClean(value: Json, redactor: TextRedactor): boolean {
  const known = knownNames(redactor)
  const fresh = new Set<string>()
  if (!hasCleanTexts(value, redactor, known, fresh)) return false
  if (fresh.size === 0) return true
  // One scan for all names: a short command has many names, and scanning them one by one takes too long.
  const names = [...fresh].join("\n")
  if (redactor.redactText(names) !== names) return false
  if (known.size + fresh.size > knownMax) known.clear()
  for (const name of fresh) known.add(name)
  return true
}

/** The member names that hold no secret: the same few occur in all events. */
const knownNames = onceFor((_: TextRedactor) => new Set<string>())
const knownMax = 1_000

function hasCleanTexts(
  value: Json,
  redactor: TextRedactor,
  names: ReadonlySet<string>,
  fresh: Set<string>,
): boolean {
  if (typeof value === "string") return redactor.redactText(value) === value
  if (value === null || typeof value !== "object") return true
  if (isList(value)) {
    for (let index = 0; index < value.length; index++)
      if (!hasCleanTexts(value[index] ?? null, redactor, names, fresh)) return false
    return true
  }
  const members = Object.keys(value)
  for (let index = 0; index < members.length; index++) {
    const name = members[index] ?? ""
    if (!names.has(name)) fresh.add(name)
    if (!hasCleanTexts(value[name] ?? null, redactor, names, fresh)) return false
  }
  return true
}

function withOriginalAt(data: Json, original: Json, path: readonly string[]): Json {
  const [name, ...rest] = path
  if (name === undefined) return original
  if (data === null || typeof data !== "object" || original === null || typeof original !== "object")
    return original
  if (isList(data) && isList(original))
    return data.map((item, index) =>
      String(index) === name ? withOriginalAt(item, original[index] ?? null, rest) : item,
    )
  if (isList(data) || isList(original)) return original
  return { ...data, [name]: withOriginalAt(data[name] ?? null, original[name] ?? null, rest) }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
