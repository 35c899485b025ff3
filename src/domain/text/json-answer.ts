import type { Json } from "../../base/canonical.ts"
import { withoutThinking } from "./thinking.ts"

export type JsonAnswer =
  | { readonly json: string; readonly problem?: undefined }
  | { readonly problem: string; readonly json?: undefined }

/**
 * The one JSON object in what a model wrote, as text: all of it, or what is in the only fenced block, or the only
 * object there is. What it only considered, aloud or in another object, is no answer: of two different ones nobody
 * knows which is meant.
 */
export function jsonAnswer(text: string): JsonAnswer {
  if (isObject(text.trim())) return { json: text.trim() }
  const said = withoutThinking(text).trim()
  if (said === "") return { problem: "the answer is empty; answer with one JSON object" }
  if (isObject(said)) return { json: said }
  const fenced = [...said.matchAll(/^[ \t]*```[\w-]*[ \t]*\n([\s\S]*?)\n?^[ \t]*```[ \t]*$/gm)]
  const [only] = fenced
  const block = only?.[1]?.trim()
  if (fenced.length === 1 && block?.startsWith("{")) return { json: block }
  return onlyObject(said)
}

/** The value of a JSON text that is small and known to be an answer; undefined when it is none. */
export function parsedJson(json: string): Json | undefined {
  try {
    // as: JSON.parse gives nothing else.
    return JSON.parse(json) as Json
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

function isObject(text: string): boolean {
  return text.startsWith("{") && text.endsWith("}") && parsedJson(text) !== undefined
}

function onlyObject(text: string): JsonAnswer {
  const pieces = bracedPieces(text)
  const objects = [...new Set(pieces.filter(isObject))].filter(piece => !/^\{\s*\}$/.test(piece))
  if (objects.length > 1)
    return {
      problem: `there are ${objects.length} different JSON objects in the answer; answer with one and nothing else`,
    }
  const json = objects[0] ?? pieces[0]
  if (json !== undefined) return { json }
  return text.includes("{")
    ? { problem: "the JSON object in the answer is not closed; was it cut off?" }
    : { problem: "there is no JSON object in the answer; answer with one and nothing else" }
}

/** From each brace that is in no other to the one that closes it. */
function bracedPieces(text: string): readonly string[] {
  const pieces: string[] = []
  let end: number | null = 0
  for (let start = text.indexOf("{"); start !== -1; start = text.indexOf("{", end)) {
    end = endOfObject(text, start)
    if (end === null) break
    pieces.push(text.slice(start, end))
  }
  return pieces
}

/** Behind the brace that closes the one at `start`, strings passed over. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (isInString) {
      if (sign === "\\") at += 1
      else if (sign === '"') isInString = false
    } else if (sign === '"') isInString = true
    else if (sign === "{") depth += 1
    else if (sign === "}") {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return null
}
