import { oneLine } from "../base/text.ts"
import type { ErrorCode } from "../domain/error-codes.ts"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../store/contract.ts"
import { changedHistory } from "../store/database/store-failures.ts"

/** The kinds of things that an id can name. */
export type RecordedKind = keyof typeof kinds

interface KindText {
  readonly one: string
  readonly many: string
  /** The command that lists the ids. */
  readonly listing: string
  /** The error code for an unknown id, where this kind has its own. */
  readonly unknownCode?: ErrorCode
  /** The types of events; one of them exists for each id of this kind. */
  readonly eventTypes?: readonly string[]
  matching(store: Store, typed: string): readonly string[]
}

const kinds = {
  session: {
    one: "session",
    many: "sessions",
    listing: "`acode session list` shows the ids",
    eventTypes: ["session.started"],
    matching: (store, typed) => store.sessions.matching(typed),
  },
  execution: {
    one: "execution",
    many: "executions",
    listing: "`acode runs list` shows the ids",
    eventTypes: ["command.started"],
    matching: (store, typed) => store.executions.matching(typed),
  },
  /** A stream of events, the unit that `audit verify` can check alone. */
  stream: {
    one: "session or execution",
    many: "sessions and executions",
    listing: "`acode session list` and `acode runs list` show the ids",
    matching: (store, typed) => [...store.sessions.matching(typed), ...store.executions.matching(typed)],
  },
  run: {
    one: "invocation of acode that ran a command",
    many: "invocations of acode",
    listing: "`acode runs list --json` shows them as runId",
    matching: (store, typed) => store.executions.matching(typed, "run"),
  },
  task: {
    one: "task that ran a command",
    many: "tasks",
    listing: "`acode runs list --json` shows them as taskId",
    matching: (store, typed) => store.executions.matching(typed, "task"),
  },
  approval: {
    one: "approval",
    many: "approvals",
    listing: "`acode approvals list --all` shows the ids",
    unknownCode: "ACODE-APPR-001",
    eventTypes: ["approval.requested"],
    matching: (store, typed) => store.approvals.matching(typed),
  },
  planApproval: {
    one: "approval of a plan",
    many: "approvals of plans",
    listing: "`acode approvals list --plans --all` shows the ids",
    unknownCode: "ACODE-APPR-001",
    eventTypes: ["plan.approved"],
    matching: (store, typed) => store.approvals.matching(typed, "plans"),
  },
  /** The ids that `approvals show` accepts. */
  anyApproval: {
    one: "approval",
    many: "approvals",
    listing: "`acode approvals list --all` and `acode approvals list --plans --all` show the ids",
    unknownCode: "ACODE-APPR-001",
    eventTypes: ["approval.requested", "plan.approved"],
    matching: (store, typed) => [
      ...store.approvals.matching(typed),
      ...store.approvals.matching(typed, "plans"),
    ],
  },
  evidence: {
    one: "evidence",
    many: "rows of evidence",
    listing: "`acode session show` and `acode evidence failures` show the ids",
    eventTypes: ["tool_call.requested"],
    matching: (store, typed) => store.evidence.matching(typed),
  },
  /** Checkpoints are not in the log: see `checkpointId`. */
  checkpoint: {
    one: "checkpoint",
    many: "checkpoints",
    listing: "`acode checkpoint list` shows the ids",
    matching: () => [],
  },
} as const satisfies Readonly<Record<string, KindText>>

/**
 * Returns the one id that a person means by a whole id, its beginning or its end. Throws a usage failure when there is
 * none or more than one; a null store is a history in which nothing was recorded.
 */
export function recordedId(store: Store | null, typed: string, kind: RecordedKind): string {
  const found = store === null ? [] : recordedIdsLike(store, typed, kind)
  const { eventTypes = [] }: KindText = kinds[kind]
  // A removed or renamed row looks like an unknown id. Only a whole id can be searched for in all events.
  if (
    found.length === 0 &&
    isWhole(typed) &&
    eventTypes.some(eventType => store?.log.mentions(eventType, typed))
  )
    throw changedHistory(`the events contain ${typed}, and no table does`, typed)
  if (found.length === 0) store?.assertRecentRows()
  return onlyOne(found, typed, kind)
}

function isWhole(typed: string): boolean {
  return /^[a-z]+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(typed)
}

/** Returns the recorded ids that begin or end with the typed text. */
export function recordedIdsLike(store: Store, typed: string, kind: RecordedKind): readonly string[] {
  return kinds[kind].matching(store, typed)
}

/** Returns the one checkpoint that a person means by a whole id, its beginning or its end. */
export function checkpointId(all: readonly string[], typed: string): string {
  return onlyOne(fitting(all, typed), typed, "checkpoint")
}

export function fitting(all: readonly string[], typed: string): readonly string[] {
  const fits = (id: string) => typed !== "" && (id.startsWith(typed) || id.endsWith(typed))
  return all.includes(typed) ? [typed] : all.filter(fits)
}

function onlyOne(found: readonly string[], typed: string, kind: RecordedKind): string {
  const { many, listing } = kinds[kind]
  const [first] = found
  if (found.length === 1 && first !== undefined) return first
  if (found.length === 0) throw unknownId(typed, kind)
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-005",
    message: `"${shown(typed)}" fits ${found.length} ${many}: ${found.slice(0, 4).join(", ")}${found.length > 4 ? ", …" : ""}`,
    hint: `type more of the id; ${listing}`,
  })
}

/** Returns the failure for an id that names nothing, also when its record was removed a moment ago. */
export function unknownId(typed: string, kind: RecordedKind): Failure {
  const { one, listing, unknownCode }: KindText = kinds[kind]
  return new Failure({
    kind: "usage",
    code: unknownCode ?? "ACODE-CLI-004",
    message: typed === "" ? `an empty id names no ${one}` : `no ${one} has the id "${shown(typed)}"`,
    hint: listing,
  })
}

/** Shortens typed text for a message: it may be much longer than an id and contain line breaks. */
function shown(typed: string): string {
  return oneLine(typed, 80)
}
