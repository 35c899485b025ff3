import { canonicalJson, equalsConstantTime, sha256Hex } from "../base/canonical.ts"
import type { FileChange } from "./tool-call.ts"

/** Everything that must still be the same when an approved action is done. */
export interface ApprovalSubject {
  readonly argv: readonly string[]
  /** Resolved, so that two spellings of one directory are one subject. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** The tool and all of its arguments: also those that only say how, such as the network or the time. */
  readonly call: { readonly tool: string; readonly argsDigest: string }
  /** Whether a sandbox was there for its commands: approved inside one, nothing is run outside. */
  readonly isConfined: boolean
  /** What of the network it reaches; left out where that is nothing. */
  readonly network?: readonly string[]
  /** An action approved under other rules was never judged by these. */
  readonly policyVersion: string
  readonly target: ApprovalTarget
}

/** The files acted upon, with what is in them and what will be: neither a swapped file nor an edited one passes. */
export type ApprovalTarget =
  | { readonly kind: "none" }
  | { readonly kind: "files"; readonly changes: readonly FileChange[] }

/** A recorded answer. `usedAt` is set by the event that begins the action, in the same commit. */
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

/** The hash a person's answer is bound to. Every field is named, so no two subjects share a text. */
export function approvalHash(subject: ApprovalSubject): string {
  return `sha256:${sha256Hex(canonicalJson({ approval: 2, ...subject }))}`
}

/** Whether this answer covers this subject now. A clock set back before the answer makes it unusable, not eternal. */
export function approvalUse(approval: Approval, subject: ApprovalSubject, now: number): ApprovalUse {
  if (approval.answer !== "granted") return { usable: false, reason: "refused" }
  if (approval.usedAt !== null) return { usable: false, reason: "used" }
  if (now < approval.answeredAt) return { usable: false, reason: "notYet" }
  if (now >= approval.expiresAt) return { usable: false, reason: "expired" }
  if (!equalsConstantTime(approval.subjectHash, approvalHash(subject)))
    return { usable: false, reason: "changed" }
  return { usable: true }
}
