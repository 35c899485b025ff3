import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import { rungs } from "../../domain/model-choice.ts"
import { listOf, objectOf, textOf } from "../fields.ts"
import type { ModelFacts } from "../server.ts"
import type { ModelProbe } from "./contract.ts"

/**
 * The same for the same content of a model on the same server, asked by the same acode. What the server declares about
 * tools decides which rungs are tried, so it counts as well. Fit for a file name.
 */
export function probeKey(
  endpoint: string,
  model: string,
  { digest, declaresTools }: Pick<ModelFacts, "digest" | "declaresTools">,
  acodeVersion: string,
): string {
  return sha256Hex(canonicalJson([endpoint, model, digest, declaresTools, acodeVersion]))
}

export function encodeProbe(key: string, probe: ModelProbe): string {
  return `${canonicalJson({ schema: 2, key, probe })}\n`
}

/** Null for everything that is not what `encodeProbe` wrote for this key: then the model is asked again. */
export function decodeProbe(key: string, text: string): ModelProbe | null {
  const probe = probeIn(text)
  return probe !== null && encodeProbe(key, probe) === text ? probe : null
}

/** Read by hand: a schema takes longer to build than everything else between the start and the first request. */
function probeIn(text: string): ModelProbe | null {
  const probe = objectOf(objectOf(parsed(text))?.["probe"])
  const rung = rungs.find(known => known === probe?.["rung"])
  const notes = listOf(probe?.["notes"]).flatMap(note => textOf(note) ?? [])
  return rung === undefined || notes.length > notesMax ? null : { rung, notes }
}

const notesMax = 50

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // A file that was cut off, or that is something else.
    return null
  }
}
