import { isMarkerText, withoutMarkerEdges } from "./marker.ts"

/** Shorter values would be found by chance in ordinary text. */
const valueLengthMin = 8

/**
 * Every spelling under which a known secret may turn up, as bytes in latin1: raw, URL-encoded, JSON-escaped and in
 * base64. Values that are no secret by themselves are left out.
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
 * The base64 of a text that contains the value depends on how many bytes stand before it, modulo three. For each of
 * the three, the characters that the value alone determines.
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
