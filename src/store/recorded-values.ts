import type { Json } from "../base/canonical.ts"
import type { RecordedText } from "../domain/recorded-text.ts"
import type { RecordedJson } from "../domain/tool-call.ts"
import type { ArtifactStore } from "./contract.ts"

/** The text an event holds or names. One whose artifact is gone says so, because the rest is still worth reading. */
export function textOf(text: RecordedText, artifacts: ArtifactStore): string {
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
  // What JSON.parse gives is JSON.
  return JSON.parse(decoded(content)) as Json
}

function decoded(content: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(content)
}
