import type { Json } from "../../base/canonical.ts"
import type { ModelItem } from "../contract.ts"
import { objectOf, tokensOf } from "../fields.ts"

const inputFields = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] as const
const fields = [...inputFields, "output_tokens"] as const

/**
 * What a reply takes, put together from the places where the server tells it: each later number replaces the earlier
 * one. What was written to the server's cache or read from it is input as well.
 */
export function createUsage(): { add(usage: Json | undefined): readonly ModelItem[] } {
  const counts = new Map<string, number>()
  return {
    add: usage => {
      const told = objectOf(usage)
      if (told === null) return []
      let isTold = false
      for (const field of fields) {
        const count = tokensOf(told[field])
        if (count === null) continue
        counts.set(field, count)
        isTold = true
      }
      if (!isTold) return []
      const input = inputFields.reduce((sum, field) => sum + (counts.get(field) ?? 0), 0)
      return [{ kind: "usage", input, output: counts.get("output_tokens") ?? 0 }]
    },
  }
}
