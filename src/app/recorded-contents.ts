import type { Json } from "../base/canonical.ts"
import { Failure } from "../domain/failure.ts"
import type { Contents } from "../domain/pipeline/fold.ts"
import type { ArtifactStore } from "../store/contract.ts"

/** What events name by hash, read when a fold asks for it. */
export function contentsOf(artifacts: ArtifactStore): Contents {
  const bytes = (ref: string) => {
    const found = artifacts.get(ref)
    if (found !== null) return new TextDecoder().decode(found)
    throw new Failure({
      kind: "integrity",
      code: "ACODE-SEC-004",
      message: "something that the history names is not there any more",
      where: ref,
      hint: "`acode audit verify` says what is missing",
    })
  }
  return {
    text: recorded => {
      if (recorded.kind === "inline") return recorded.text
      return recorded.kind === "artifact" ? bytes(recorded.ref) : ""
    },
    // as: written as JSON, and its hash says that it still is what was written.
    json: recorded =>
      recorded.kind === "inline" ? recorded.value : (JSON.parse(bytes(recorded.ref)) as Json),
  }
}
