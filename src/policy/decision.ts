import type {
  Decision,
  DecisionKind,
  EffectCategory,
  Level,
  PathEffectKind,
  PathOperation,
} from "../domain/effect.ts"
import type { RulePolicy } from "./rules/rules.ts"
import type { ShellParser } from "./shell/script.ts"
import { type Answerable, answersYes, type Opening, type YesScopes } from "./yes-scopes.ts"

/** The inputs of a decision besides the effects. The caller passes all of them; policy reads no file. */
export interface PolicyOptions {
  /** The workspace root, absolute and without symlinks. */
  readonly root: string
  readonly home: string | null
  /** Paths below the root that a configuration of git names; left out where it names none. */
  readonly namedByGit?: readonly string[]
  readonly defaults: CategoryDefaults
  readonly yes: YesScopes
  /** Set when only acode may use the network, and only for its model. */
  readonly isAirgapped: boolean
  /** Reads shell strings; without a parser they are refused. See `needsShellParser`. */
  readonly parser: ShellParser | null
}

/** The decision on one effect, or on one program or path of a command. */
export interface Part extends Decision, Answerable {
  /** Set when `--yes` may answer it. */
  readonly isLiftable: boolean
  /** Set for a path that only its own name in the plan or the user can allow. */
  readonly isAlwaysAsked: boolean
}

interface PartDraft {
  readonly decision: DecisionKind
  readonly level: Level
  readonly category: EffectCategory
  readonly rule: string
  readonly reason: string
  readonly confined?: boolean
  readonly skip?: boolean
  readonly path?: string | null
  readonly isCommand?: boolean
  readonly isLiftable?: boolean
  readonly opens?: Opening | null
  readonly isAlwaysAsked?: boolean
}

export function part(draft: PartDraft): Part {
  return {
    confined: false,
    skip: false,
    path: null,
    isCommand: false,
    opens: null,
    isLiftable: draft.decision === "ask" && draft.level < 4,
    isAlwaysAsked: false,
    ...draft,
  }
}

/** Returns the decision that a rule or a default makes. */
export function partOf(policy: RulePolicy, draft: Omit<PartDraft, "decision">): Part {
  if (policy === "auto") return part({ ...draft, decision: "allow" })
  if (policy === "prompt") return part({ ...draft, decision: "ask" })
  return part({ ...draft, decision: "deny", skip: policy === "skip" })
}

/** Reports whether configuration refuses the network to every command, whatever a plan or `--yes` says. */
export function isNetworkRefused({ defaults }: PolicyOptions): boolean {
  return defaults.EXTERNAL_REQUEST === "deny" || defaults.EXTERNAL_REQUEST === "skip"
}

/** Applies `--yes`, which can only turn an ask into an allow. */
export function lifted(asked: Part, yes: YesScopes): Part {
  if (asked.decision !== "ask" || !asked.isLiftable || !answersYes(yes, asked)) return asked
  return { ...asked, decision: "allow", reason: `--yes answers it: ${asked.reason}` }
}

const strictness: Readonly<Record<DecisionKind, number>> = { allow: 0, ask: 1, deny: 2 }

/** Returns the strictest part, which decides the whole; a refusal that fails wins over one that skips. */
export function strictest(parts: readonly Part[]): Decision {
  const [first, ...rest] = parts
  if (first === undefined) return nothing
  let found = first
  for (const other of rest) if (weight(other) > weight(found)) found = other
  const { decision, level, category, rule, reason, skip } = found
  const confined = decision === "allow" && parts.some(each => each.confined)
  const asked = parts.flatMap(({ isAlwaysAsked, path: about }) =>
    isAlwaysAsked && about !== null ? [about] : [],
  )
  const consented = asked.length === 0 ? {} : { consented: [...new Set(asked)] }
  return { decision, confined, level, category, rule, reason, skip, ...consented }
}

function weight(of: Part): number {
  return strictness[of.decision] * 100 + of.level * 10 + (of.decision === "deny" && !of.skip ? 5 : 0)
}

const nothing: Decision = {
  decision: "allow",
  confined: false,
  level: 1,
  category: "FILE_READ",
  rule: "no-effect",
  reason: "it touches nothing",
  skip: false,
}

interface EffectKindFacts {
  readonly category: EffectCategory
  readonly level: Level
  /** The operation that protected paths are checked for. A new directory counts as a write. */
  readonly operation: PathOperation
}

export const pathKinds: Readonly<Record<PathEffectKind, EffectKindFacts>> = {
  read: { category: "FILE_READ", level: 1, operation: "read" },
  list: { category: "FILE_READ", level: 1, operation: "list" },
  createDirectory: { category: "DIRECTORY_CREATE", level: 1, operation: "write" },
  write: { category: "FILE_WRITE", level: 2, operation: "write" },
  delete: { category: "FILE_DELETE", level: 3, operation: "delete" },
}

/** The policy of each category when no rule matches. Configuration may replace an entry. */
export type CategoryDefaults = Readonly<Record<EffectCategory, RulePolicy>>
