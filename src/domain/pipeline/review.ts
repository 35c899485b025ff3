import * as z from "zod/mini"
import type { Json } from "../../base/canonical.ts"
import { lazily } from "../../base/lazy.ts"

/** The answer of a reviewer. */
export const Review = lazily(() =>
  z.strictObject({
    decision: z.enum(["approve", "fix", "replan"]),
    summary: z.string(),
    findings: z._default(
      z.array(
        z.strictObject({
          severity: z.enum(["critical", "major", "minor"]),
          file: z.optional(z.nullable(z.string())),
          line: z.optional(z.nullable(z.int())),
          text: z.string(),
        }),
      ),
      [],
    ),
  }),
)
export type Review = z.infer<ReturnType<typeof Review>>

export function readReview(value: Json): Review | null {
  return Review().safeParse(value).data ?? null
}

/** The answer of a verifier about criteria that only judgement can decide. */
export const Judgement = lazily(() =>
  z.strictObject({
    criteria: z.array(
      z.strictObject({
        id: z.string(),
        verdict: z.enum(["passed", "failed", "inconclusive"]),
        reason: z.string(),
      }),
    ),
  }),
)
export type Judgement = z.infer<ReturnType<typeof Judgement>>
