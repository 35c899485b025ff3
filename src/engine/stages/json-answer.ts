import type { Json } from "../../base/canonical.ts"

export type JsonAnswer =
  | { readonly json: string; readonly problem?: undefined }
  | { readonly problem: string; readonly json?: undefined }

/**
 * The one JSON object in what a model wrote, as text: all of it, or what is in the only fenced block, or the first
 * balanced object.
 */
export function jsonAnswer(text: string): JsonAnswer {
  const said = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim()
  if (said === "") return { problem: "the answer is empty; answer with one JSON object" }
  if (said.startsWith("{") && said.endsWith("}") && isJson(said)) return { json: said }
  const fenced = [...said.matchAll(/^[ \t]*```[\w-]*[ \t]*\n([\s\S]*?)\n?^[ \t]*```[ \t]*$/gm)]
  const [only] = fenced
  const block = only?.[1]?.trim()
  if (fenced.length === 1 && block?.startsWith("{")) return { json: block }
  return firstObject(said)
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

function isJson(text: string): boolean {
  return parsedJson(text) !== undefined
}

function firstObject(text: string): JsonAnswer {
  const start = text.indexOf("{")
  if (start === -1)
    return { problem: "there is no JSON object in the answer; answer with one and nothing else" }
  const end = endOfObject(text, start)
  if (end === null) return { problem: "the JSON object in the answer is not closed; was it cut off?" }
  return { json: text.slice(start, end) }
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
