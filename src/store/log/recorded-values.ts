import type { Json } from "../../base/canonical.ts"
import type { RecordedText } from "../../domain/events/recorded-text.ts"
import type { RecordedJson } from "../../domain/tool-call.ts"
import type { ArtifactStore } from "../contract.ts"
import { unreadableArtifact } from "../database/store-failures.ts"

/**
 * Returns the text that an event holds or refers to. If its artifact is missing, returns a note that says so, because
 * the rest is still worth reading.
 */
export function storedText(text: RecordedText, artifacts: ArtifactStore): string {
  if (text.kind === "inline") return text.text
  if (text.kind === "omitted") return ""
  const content = artifacts.get(text.ref)
  if (content === null) return `[the stored output ${text.ref} is missing]`
  return decoded(content)
}

/** Returns the value that an event holds or refers to; a note if its artifact is missing. */
export function jsonOf(recorded: RecordedJson, artifacts: ArtifactStore): Json {
  if (recorded.kind === "inline") return recorded.value
  const content = artifacts.get(recorded.ref)
  if (content === null) return `[the stored value ${recorded.ref} is missing]`
  return parsedContent(content, recorded.ref)
}
/** Parses the content of an artifact. Throws if it is not JSON. */

export function parsedContent(content: Uint8Array, ref: string): Json {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(decoded(content)) as Json
  } catch (error) {
    throw unreadableArtifact(ref, error)
  }
}

/** Decodes UTF-8 and keeps a byte order mark: it is part of the text and of its hash. */
export function decoded(content: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(content)
}
