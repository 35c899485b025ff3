import { canonicalJson, type Json } from "../base/canonical.ts"
import type { RecordedText } from "../domain/events/recorded-text.ts"
import type { FileChange, RecordedJson } from "../domain/tool-call.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { ArtifactStore } from "../store/contract.ts"
import type { PathMark } from "../workspace/contract.ts"
import type { WholeQuestion } from "./contract.ts"

/** Larger values are stored as artifacts, because every reader of the log would read them. */
const inlineBytesMax = 16 * 1024
const inlineChangesMax = 100

/** Records a value, which must be redacted already: the caller returns the same value as the event holds. */
export function recordJson(value: Json, artifacts: ArtifactStore): RecordedJson {
  // The order of names does not change the length.
  if (Buffer.byteLength(JSON.stringify(value)) <= inlineBytesMax)
    return { kind: "inline", value: mutable(value) }
  return { kind: "artifact", ...artifacts.putJson(value) }
}

export function recordText(text: string, artifacts: ArtifactStore): RecordedText {
  if (Buffer.byteLength(text) <= inlineBytesMax) return { kind: "inline", text }
  const bytes = Buffer.from(text)
  return { kind: "artifact", ref: artifacts.put(bytes), bytes: bytes.length }
}

/**
 * Returns the recorded form of a question: all of it, redacted, and whether that leaves a part out. `preview` is the
 * one for the record.
 */
export function recordQuestion(
  whole: WholeQuestion,
  preview: string,
  redactor: Redactor,
  artifacts: ArtifactStore,
) {
  const redact = (text: string) => redactor.redactText(text)
  const record = {
    operation: redact(whole.operation),
    reach: redact(whole.reach),
    files: whole.files.map(redact),
    reason: redact(whole.reason),
    preview: redact(preview),
  }
  const isRedacted = canonicalJson(record) !== canonicalJson({ ...whole })
  return { ...record, isRedacted, preview: recordText(record.preview, artifacts) }
}

export function recordChanges(changes: readonly FileChange[], artifacts: ArtifactStore) {
  if (changes.length <= inlineChangesMax) return { kind: "inline" as const, value: [...changes] }
  return { kind: "artifact" as const, ...artifacts.putJson(changes), count: changes.length }
}

/** Returns the recorded form of the state of paths; left out when there are none. */
export function recordLeft(marks: readonly PathMark[], artifacts: ArtifactStore): { left?: RecordedJson } {
  if (marks.length === 0) return {}
  return {
    left: recordJson(
      marks.map(({ path, identity, staged }) => [path, identity, staged]),
      artifacts,
    ),
  }
}

/** Removes readonly, which the type of the schema lacks; no code changes the value afterwards. */
function mutable(value: Json) {
  return value as Extract<RecordedJson, { kind: "inline" }>["value"]
}
