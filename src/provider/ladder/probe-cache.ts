import * as z from "zod/mini"
import { canonicalJson, sha256Hex } from "../../base/canonical.ts"
import { lazily } from "../../domain/lazily.ts"
import { editFormats, rungs } from "../../domain/model-choice.ts"
import type { ModelProbe } from "./contract.ts"

/** The same for the same content of a model on the same server, asked by the same acode. Fit for a file name. */
export function probeKey(
  endpoint: string,
  model: string,
  digest: string | null,
  acodeVersion: string,
): string {
  return sha256Hex(canonicalJson([endpoint, model, digest, acodeVersion]))
}

export function encodeProbe(key: string, probe: ModelProbe): string {
  return `${canonicalJson({ schema: 1, key, probe })}\n`
}

/** Null for everything that is not what `encodeProbe` wrote for this key: then the model is asked again. */
export function decodeProbe(key: string, text: string): ModelProbe | null {
  try {
    const { success, data } = CachedProbe().safeParse(JSON.parse(text))
    return success && data.key === key ? data.probe : null
  } catch (error) {
    // A file that was cut off, or that is something else.
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const CachedProbe = lazily(() =>
  z.strictObject({
    schema: z.literal(1),
    key: z.string(),
    probe: z.strictObject({
      rung: z.enum(rungs),
      editFormat: z.enum(editFormats),
      windowTokens: z.int().check(z.positive()),
      notes: z.array(z.string()).check(z.maxLength(50)),
    }),
  }),
)
