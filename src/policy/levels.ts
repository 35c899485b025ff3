import type { EffectCategory, Level, PathEffectKind } from "../domain/effect.ts"
import type { PathOperation } from "./contract.ts"
import type { RulePolicy } from "./rules.ts"

interface EffectKindFacts {
  readonly category: EffectCategory
  readonly level: Level
  /** What protected paths are asked about. A new directory is a write to them. */
  readonly operation: PathOperation
}

export const pathKinds: Readonly<Record<PathEffectKind, EffectKindFacts>> = {
  read: { category: "FILE_READ", level: 1, operation: "read" },
  list: { category: "FILE_READ", level: 1, operation: "list" },
  createDirectory: { category: "DIRECTORY_CREATE", level: 1, operation: "write" },
  write: { category: "FILE_WRITE", level: 2, operation: "write" },
  delete: { category: "FILE_DELETE", level: 3, operation: "delete" },
}

/** What each category does when no rule says otherwise. Configuration may replace an entry. */
export type CategoryDefaults = Readonly<Record<EffectCategory, RulePolicy>>

export const shippedDefaults: CategoryDefaults = {
  FILE_READ: "auto",
  FILE_WRITE: "prompt",
  FILE_DELETE: "prompt",
  DIRECTORY_CREATE: "auto",
  TERMINAL_COMMAND: "prompt",
  EXTERNAL_REQUEST: "prompt",
}
