import type { Json } from "../../base/canonical.ts"
import type { RecordedText } from "../../domain/events/recorded-text.ts"
import type { RecordedJson } from "../../domain/tool-call.ts"
import type { ArtifactStore } from "../contract.ts"
import { unreadableArtifact } from "../database/store-failures.ts"

/** The text an event holds or names. One whose artifact is gone says so, because the rest is still worth reading. */
export function storedText(text: RecordedText, artifacts: ArtifactStore): string {
  if (text.kind === "inline") return text.text
  if (text.kind === "omitted") return ""
  const content = artifacts.get(text.ref)
  if (content === null) return `[the stored output ${text.ref} is missing]`
  return decoded(content)
}

/** The value an event holds or names. */
export function jsonOf(recorded: RecordedJson, artifacts: ArtifactStore): Json {
  if (recorded.kind === "inline") return recorded.value
  const content = artifacts.get(recorded.ref)
  if (content === null) return `[the stored value ${recorded.ref} is missing]`
  return parsedContent(content, recorded.ref)
}

export function parsedContent(content: Uint8Array, ref: string): Json {
  try {
    // What JSON.parse gives is JSON.
    return JSON.parse(decoded(content)) as Json
  } catch (error) {
    throw unreadableArtifact(ref, error)
  }
}

/** A mark at its beginning is part of a text: whoever wrote it hashed it along. */
export function decoded(content: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(content)
}
