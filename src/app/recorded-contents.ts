import type { Contents } from "../domain/pipeline/recorded-event.ts"
import type { ArtifactStore } from "../store/contract.ts"
import { missingArtifact } from "../store/database/store-failures.ts"
import { decoded, parsedContent } from "../store/log/recorded-values.ts"

/** Returns a reader for contents that events name by hash; it reads each one when a fold asks for it. */
export function contentsOf(artifacts: ArtifactStore): Contents {
  const stored = (ref: string) => {
    const found = artifacts.get(ref)
    if (found === null) throw missingArtifact(ref)
    return found
  }
  return {
    text: recorded => {
      if (recorded.kind === "inline") return recorded.text
      return recorded.kind === "artifact" ? decoded(stored(recorded.ref)) : ""
    },
    json: recorded =>
      recorded.kind === "inline" ? recorded.value : parsedContent(stored(recorded.ref), recorded.ref),
  }
}
