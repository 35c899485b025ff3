import { canonicalJson, equalsConstantTime, sha256Hex } from "../base/canonical.ts"
import type { FileChange } from "./tool-call.ts"

/** Everything that must still be the same when an approved action is carried out. */
export interface ApprovalSubject {
  readonly argv: readonly string[]
  /** Resolved, so that two spellings of one directory are one subject. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** The tool and all of its arguments, including those that only say how, such as the network or the time. */
  readonly call: { readonly tool: string; readonly argsDigest: string }
  /** True if a sandbox was available for its commands: a command approved inside one is never run outside. */
  readonly isConfined: boolean
  /** The part of the network it reaches; omitted if that is none. */
  readonly network?: readonly string[]
  /** The policy that judged it: an action approved under other rules was never judged by these. */
  readonly policyVersion: string
  readonly target: ApprovalTarget
}

/** The files acted upon, with their content before and after: neither a swapped file nor an edited one passes. */
export type ApprovalTarget =
  | { readonly kind: "none" }
  | { readonly kind: "files"; readonly changes: readonly FileChange[] }

/** A recorded answer. The event that begins the action sets `usedAt` in the same commit. */
export interface Approval {
  readonly id: string
  readonly subjectHash: string
  readonly answer: "granted" | "refused"
  readonly answeredAt: number
  readonly expiresAt: number
  readonly usedAt: number | null
}

export type ApprovalUse =
  | { readonly usable: true }
  | { readonly usable: false; readonly reason: "refused" | "used" | "expired" | "notYet" | "changed" }

/** Returns the hash that a person's answer is bound to. Every field is named, so no two subjects share a text. */
export function approvalHash(subject: ApprovalSubject): string {
  return `sha256:${sha256Hex(canonicalJson({ approval: 2, ...subject }))}`
}

/**
 * Returns whether this answer covers this subject now. A clock set to before the answer makes it unusable, not
 * eternal.
 */
export function approvalUse(approval: Approval, subject: ApprovalSubject, now: number): ApprovalUse {
  if (approval.answer !== "granted") return { usable: false, reason: "refused" }
  if (approval.usedAt !== null) return { usable: false, reason: "used" }
  if (now < approval.answeredAt) return { usable: false, reason: "notYet" }
  if (now >= approval.expiresAt) return { usable: false, reason: "expired" }
  if (!equalsConstantTime(approval.subjectHash, approvalHash(subject)))
    return { usable: false, reason: "changed" }
  return { usable: true }
}
