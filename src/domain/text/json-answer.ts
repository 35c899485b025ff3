import type { Json } from "../../base/canonical.ts"
import { withoutThinking } from "./thinking.ts"

export type JsonAnswer =
  | { readonly json: string; readonly problem?: undefined }
  | { readonly problem: string; readonly json?: undefined }

/**
 * Returns the one JSON object in the text of a model: all of the text, the content of the only fenced block, or the
 * only object. Objects that the model only considered are not an answer: of two different ones, it is unknown which
 * one is the answer.
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

/** Returns the value of a small JSON text that is an answer; undefined if it is not JSON. */
export function parsedJson(json: string): Json | undefined {
  try {
    // as: JSON.parse returns nothing else.
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
      problem: `the answer contains ${objects.length} different JSON objects; answer with one and nothing else`,
    }
  const json = objects[0] ?? pieces[0]
  if (json !== undefined) return { json }
  return text.includes("{")
    ? { problem: "the JSON object in the answer is not closed; was it cut off?" }
    : { problem: "the answer contains no JSON object; answer with one and nothing else" }
}

/** Returns the text of each outermost pair of braces. */
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

/** Returns the index after the brace that closes the one at `start`, skipping strings. */
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
