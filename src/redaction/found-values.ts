import { isUtf8 } from "node:buffer"
import { isSlug } from "./judgement.ts"
import { isMarkerText, type RedactionKind, withoutMarkerEdges } from "./marker.ts"
import { keepText, type ReadableText, readableText } from "./readable-text.ts"
import type { Findings } from "./rule-stage.ts"
import { concat, copyOf, type Edits, editsOf, type OnReplaced, type RedactionStage } from "./stage.ts"
import { type Spelling, spellingsAs, type ValueSet, valueSetOf } from "./value-stage.ts"

/** Collects the secrets that were found in one text, so that they are replaced everywhere else in it. */
export interface FoundValues extends Findings {
  /** Returns a stage that replaces them. Secrets that are added later apply to bytes that are pushed later. */
  stage(onReplaced?: OnReplaced): RedactionStage
}

/**
 * The most secrets that are replaced everywhere; further ones are replaced only where the rules find them, which
 * bounds memory and time.
 */
const valuesMax = 200
const valueBytesMax = 2048
/** The most values whose judgement is remembered: most secrets of a text are the same few. */
const judgedMax = 1_000

/**
 * Creates an empty collection. An earlier stage has replaced the values of `known`, except those with decoration
 * inside.
 */
export function createFoundValues(known: ValueSet): FoundValues {
  let values = known
  let hasNew = false
  let count = 0
  let isDecorated = false
  /** The readable form of the next bytes, when the rules had to decode them. */
  let noted: { readonly source: Uint8Array; readonly text: ReadableText } | null = null
  const found: Spelling[] = []
  const seen = new Set<string>()
  const judged = new Set<string>()
  const current = () => {
    if (hasNew) values = valueSetOf([...known.spellings, ...found])
    hasNew = false
    return values
  }
  return {
    add: (kind, value, from) => {
      if (count >= valuesMax || value.length > valueBytesMax * 10) return
      const written = Buffer.from(value.buffer, value.byteOffset, value.length).toString("latin1")
      if (judged.has(written)) return
      if (judged.size < judgedMax) judged.add(written)
      for (const form of formsOf(kind, value)) {
        if (count >= valuesMax) return
        const fresh = spellingsOf([form]).filter(text => !seen.has(text))
        if (fresh.length === 0) continue
        for (const text of fresh) seen.add(text)
        found.push(...spellingsAs(kind, fresh, from))
        count += 1
        hasNew = true
      }
    },
    noteDecoration: (source, text) => {
      isDecorated = true
      noted = { source, text }
    },
    stage: onReplaced => {
      let held: Uint8Array = new Uint8Array(0)
      let passed = 0
      return {
        push: (chunk, final) => {
          const source = concat([held, chunk])
          const read = noted?.source === source ? noted.text : null
          noted = null
          // Known values were replaced before, except where decoration hid them.
          if (count === 0 && (known.spellings.length === 0 || !isDecorated)) {
            held = new Uint8Array(0)
            passed += source.length
            return source
          }
          const edits = editsOf(source, onReplaced)
          const text = read ?? readableText(source, final)
          const out = replaceValues({ source, text, edits, passed, final, values: current() })
          held = copyOf(source, out)
          passed += out
          return edits.result()
        },
      }
    },
  }
}

interface Run {
  readonly source: Uint8Array
  readonly text: ReadableText
  readonly edits: Edits
  /** The length of the text before. */
  readonly passed: number
  readonly final: boolean
  readonly values: ValueSet
}

/** Replaces values and returns where the bytes to hold back begin in the source. */
function replaceValues({ source, text, edits, passed, final, values }: Run): number {
  const { bytes } = text
  const scanner = values.scannerFor(bytes)
  const redactPayload = (payload: Uint8Array) => {
    const inside = editsOf(payload)
    const read = readableText(payload, true)
    replaceValues({ source: payload, text: read, edits: inside, passed, final: true, values })
    return inside.result()
  }
  let open = final ? bytes.length : scanner.findOpen(bytes, 0)
  let copied = 0
  let at = 0
  for (;;) {
    const found = scanner.find(bytes, at)
    if (found < 0 || found >= open) break
    const place = text.startOf(found)
    const spelling = scanner
      .literalsAt(bytes, found)
      .map(index => values.spellings[index])
      .find(one => one !== undefined && one.from <= passed + place)
    at = found + (spelling?.text.length ?? 1)
    if (spelling === undefined) continue
    keepText(source, text, edits, copied, place, redactPayload)
    edits.add(spelling.marker)
    copied = text.endOf(at)
    if (at > open) open = scanner.findOpen(bytes, at)
  }
  const out = Math.max(copied, open >= bytes.length ? text.sourceEnd : text.startOf(open))
  keepText(source, text, edits, copied, out, redactPayload)
  return out
}

/** Shorter values would be found by chance. */
const lengthMin = 8
const slugLengthMin = 16
const wordyLengthMin = 12

/**
 * Returns the forms of a secret that are searched for: the secret itself, and its decoded form when it is encoded.
 */
function formsOf(kind: RedactionKind, value: Uint8Array): readonly string[] {
  if (value.length > valueBytesMax && kind !== "private-key") return []
  const written = Buffer.from(value.buffer, value.byteOffset, value.length)
  const text = written.toString(isUtf8(written) ? "utf8" : "latin1")
  if (kind === "private-key") return text.split(/\\[nr]|[^A-Za-z0-9+/=]+/).filter(line => line.length >= 40)
  const forms = [text, unescaped(text), urlDecoded(text)]
  if (kind === "authorization" || kind === "credential") forms.push(passwordOf(text))
  return [...new Set(forms)].filter(isTelling)
}

/** Reports whether a value identifies the secret: a word, a name or a date may occur elsewhere for another reason. */
function isTelling(value: string): boolean {
  if (value.length < lengthMin || value.length > valueBytesMax || !/[A-Za-z\x80-\uffff]/.test(value))
    return false
  if (isSlug(value))
    return value.length >= slugLengthMin && /[^A-Za-z].*[^A-Za-z]|^[A-Za-z]{20,}$/.test(value)
  // `scram-sha-256`: words and numbers.
  if (/^[A-Za-z]+(?:[-_.:/ ](?:[A-Za-z]+|\d+))+$/.test(value)) return value.length >= slugLengthMin
  return (
    /\d/.test(value) || (value.length >= wordyLengthMin && /[A-Za-z].*[^\w\s.,:;/-].*[A-Za-z]/.test(value))
  )
}

function unescaped(value: string): string {
  if (!value.includes("\\")) return value
  try {
    const text: unknown = JSON.parse(`"${value}"`)
    return typeof text === "string" ? text : value
  } catch {
    // Not JSON: the value may have a shell's backslashes instead.
    return value.replace(/\\(.)/g, "$1")
  }
}

function urlDecoded(value: string): string {
  if (!/%[0-9A-Fa-f]{2}/.test(value)) return value
  try {
    return decodeURIComponent(value)
  } catch {
    // A percent sign that encodes no byte: the value is not URL-encoded.
    return value
  }
}

/** Returns the password of a `Basic` header, which has a name and a password in base64. */
function passwordOf(value: string): string {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return value
  const decoded = Buffer.from(value, "base64").toString("latin1")
  return /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(decoded) ? decoded.slice(decoded.indexOf(":") + 1) : value
}

/** Shorter values would be found by chance in ordinary text. */
const valueLengthMin = 8

/**
 * Returns every spelling of a known secret, as bytes in latin1: raw, URL-encoded, JSON-escaped and in base64. Values
 * that do not identify a secret are left out.
 */
export function spellingsOf(values: readonly string[]): readonly string[] {
  const spellings = new Set<string>()
  for (const value of values) {
    for (const form of new Set([value, value.trim()])) {
      if (form.length < valueLengthMin) continue
      for (const spelling of [...textForms(form).map(latin1), ...base64Forms(form)]) {
        const kept = withoutMarkerEdges(spelling)
        if (kept.length >= valueLengthMin - 1 && !isMarkerText(kept)) spellings.add(kept)
      }
    }
  }
  return [...spellings]
}

function textForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  // A lone surrogate has no URL form, and encodeURIComponent throws for it.
  const url = encodeURIComponent(value.toWellFormed())
  return [
    value,
    json,
    json.replaceAll("/", "\\/"),
    // Go escapes these three in JSON, Python everything beyond ASCII.
    json.replace(/[<>&]/g, escapedUnit),
    json.replace(/[^\0-\x7f]/g, escapedUnit),
    // JSON inside JSON, as in a log line that carries a response.
    JSON.stringify(json).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
    url.replaceAll("%20", "+"),
    url.replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
    encodeURI(value.toWellFormed()),
  ]
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
}

/**
 * Returns the base64 forms of a text that contains the value. They depend on the number of preceding bytes modulo
 * three; for each of the three, these are the characters that the value alone determines.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, "utf8")
  const forms = [bytes.toString("base64"), bytes.toString("base64").replace(/=+$/, "")]
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
    const first = Math.ceil((before * 8) / 6)
    const last = Math.floor(((before + bytes.length) * 8) / 6)
    forms.push(encoded.slice(first, last))
  }
  return [...forms, ...forms.map(form => form.replaceAll("+", "-").replaceAll("/", "_"))]
}

function latin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1")
}
