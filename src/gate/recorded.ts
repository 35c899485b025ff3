import { canonicalJson, type Json } from "../base/canonical.ts"
import type { RecordedText } from "../domain/events/recorded-text.ts"
import type { FileChange, RecordedJson } from "../domain/tool-call.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { ArtifactStore } from "../store/contract.ts"
import type { PathMark } from "../workspace/contract.ts"
import type { WholeQuestion } from "./contract.ts"

/** Larger values would make every reader of the log carry them. */
const inlineBytesMax = 16 * 1024
const inlineChangesMax = 100

/** Takes what is redacted already: what stands in the event is what the caller returns. */
export function recordJson(value: Json, artifacts: ArtifactStore): RecordedJson {
  // The order of names makes no difference to the length.
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
 * What is recorded of a question: all that is shown of it, redacted, and whether that leaves something out. `preview`
 * is the one for the record.
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

/** How paths were left, as it is recorded; not there for none. */
export function recordLeft(marks: readonly PathMark[], artifacts: ArtifactStore): { left?: RecordedJson } {
  if (marks.length === 0) return {}
  return {
    left: recordJson(
      marks.map(({ path, identity, staged }) => [path, identity, staged]),
      artifacts,
    ),
  }
}

/** The schema's type knows no readonly; nothing changes the value afterwards. */
function mutable(value: Json) {
  return value as Extract<RecordedJson, { kind: "inline" }>["value"]
}
