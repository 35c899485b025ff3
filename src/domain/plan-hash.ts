import { canonicalJson, type Json, sha256Hex } from "../base/canonical.ts"

/** What an approval is bound to: everything the file says, whatever its spacing and the order of its keys. */
export function planHash(value: Json): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`
}

/** The same step of the same plan, in whatever run: what makes two runs comparable. */
export function stepKey(hash: string, index: number, stepId: string, args: Json): string {
  return sha256Hex(canonicalJson([hash, index, stepId, args]))
}
