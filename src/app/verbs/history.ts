import { existsSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { onceFor } from "../../base/lazy.ts"
import { readShown } from "../../base/path-names.ts"
import { ApprovalRequested } from "../../domain/events/call-events.ts"
import type { NewEvent } from "../../domain/events/definition.ts"
import { Failure } from "../../domain/failure.ts"
import type { SessionEvent } from "../../domain/session/session-view.ts"
import type { DiffStat } from "../../engine/diffstat.ts"
import type { AcceptedHistory, ExecutionHistory, Store, StoredEvent } from "../../store/contract.ts"
import type { EvidenceHistory } from "../../store/evidence/contract.ts"
import type {
  AnswerToApproval,
  ApprovalHistory,
  ApprovalSummary,
  SessionHistory,
} from "../../store/session/contract.ts"
import { checkpointId, type RecordedKind, recordedId, unknownId } from "../recorded-id.ts"
import { userName } from "../user-name.ts"
import type { Wiring } from "../wiring/wire.ts"

/** Reads what was recorded, and answers open questions. A history is null when nothing was ever recorded here. */
export interface HistoryVerbs {
  /** Returns the one id that matches a whole id, its beginning or its end; else throws a usage failure. */
  idOf(typed: string, kind: RecordedKind): Promise<string>
  /**
   * Returns what listings read, after comparing the recent rows with their events: a listing cannot notice a row that
   * it does not list. What does not match is noted.
   */
  listed(): Promise<Pick<Store, "sessions" | "executions" | "approvals" | "evidence"> | null>
  sessions(): Promise<SessionHistory | null>
  executions(): Promise<ExecutionHistory | null>
  /** Returns the events of a session and the answers to its questions, oldest first and numbered from 1. */
  sessionEvents(id: string): Promise<readonly SessionEvent[]>
  /** Counts what a session changed in the workspace, from the copies of the former contents. */
  diffStat(sessionId: string): Promise<DiffStat>
  approvals(): Promise<ApprovalHistory | null>
  /** Returns one question after verifying the history of its session; null when no question has this id. */
  approval(id: string): Promise<ApprovalSummary | null>
  /** Records the user's answer. Throws ACODE-APPR-001 without such a question, -002 when it is no longer open. */
  answer(answer: Pick<AnswerToApproval, "approvalId" | "answer" | "reason">): Promise<ApprovalSummary>
  evidence(): Promise<EvidenceHistory | null>
  /** Records that the user accepts a history that does not match its anchors. */
  acceptHistory(reason: string): Promise<AcceptedHistory>
  /** Returns the directory with files that an execution made under protected names; null when it is gone. */
  quarantineOf(executionId: string): string | null
  /** Converts a typed path to the form in which evidence records it. */
  recordedPath(typed: string): string
}

const noChanges: DiffStat = { files: [], total: { files: 0, added: 0, removed: 0, uncounted: 0 } }

/** The code for an id that matches several records. */
const ambiguous = "ACODE-CLI-005"

async function idHere(wiring: Wiring, typed: string, kind: RecordedKind): Promise<string> {
  if (kind !== "checkpoint") return recordedId(await wiring.existingStore(), typed, kind)
  const { checkpoints } = await wiring.workspace()
  return checkpointId(
    checkpoints.list().map(({ id }) => id),
    typed,
  )
}

export function historyVerbs(wiring: Wiring): HistoryVerbs {
  return {
    idOf: async (typed, kind) => {
      try {
        return await idHere(wiring, typed, kind)
      } catch (error) {
        if (!(error instanceof Failure) || error.report.code === ambiguous || isIntegrity(error)) throw error
        // Loaded only here: most ids are known in this history.
        const { whereKnown } = await import("./former-ids.ts")
        const hint = await whereKnown(wiring, typed, kind)
        throw hint === null ? error : new Failure({ ...error.report, hint })
      }
    },
    listed: () => listedStore(wiring),
    executions: async () => (await shownStore(wiring))?.executions ?? null,
    sessions: async () => (await shownStore(wiring))?.sessions ?? null,
    sessionEvents: async id => {
      const store = await shownStore(wiring)
      // A session without its last events would be shown in an earlier state.
      store?.assertGenuine(id)
      return store === null ? [] : eventsOf(store, id)
    },
    diffStat: async id => {
      const store = await wiring.existingStore()
      if (store === null) return noChanges
      // Loaded only here: it imports the schemas of the events.
      return (await import("../wiring/diffstat.ts")).sessionDiffStat(wiring, store, id)
    },
    approvals: async () => (await shownStore(wiring))?.approvals ?? null,
    approval: async id => {
      const store = await shownStore(wiring)
      return store === null ? null : genuineApproval(store, id)
    },
    answer: async answer => {
      const store = await wiring.existingStore()
      if (store === null) throw unknownId(answer.approvalId, "approval")
      const asked = genuineApproval(store, answer.approvalId)
      if (answer.answer === "granted") assertSeen(asked)
      const answered = store.approvals.answer({ ...answer, by: userName(), via: "command" })
      store.anchor()
      return answered
    },
    // Loaded when it is used.
    acceptHistory: async reason => (await import("../history-acceptance.ts")).acceptHere(wiring, reason),
    evidence: async () => (await shownStore(wiring))?.evidence ?? null,
    quarantineOf: executionId => {
      const directory = join(wiring.places.quarantineDirectory, executionId)
      return existsSync(directory) ? directory : null
    },
    recordedPath: typed => {
      const { path: root } = wiring.root
      const path = readShown(typed)
      // Bytes that are not UTF-8 would be lost in node:path.
      if (!path.isWellFormed()) return path
      const inside = relative(root, resolve(root, path))
      return inside === "" ? "." : inside
    },
  }
}

/** Opens the history to be shown, and checks once that it matches its anchors. */
async function shownStore(wiring: Wiring): Promise<Store | null> {
  const store = await wiring.existingStore()
  if (store !== null) onceShown(store)
  return store
}

async function listedStore(wiring: Wiring): Promise<Store | null> {
  const store = await shownStore(wiring)
  store?.noteChanged(() => store.assertRecentRows())
  return store
}

const onceShown = onceFor((store: Store) => store.noteChanged(() => store.assertAnchored()))

function genuineApproval(store: Store, id: string): ApprovalSummary | null {
  const asked = store.approvals.find(id)
  if (asked !== null) store.assertGenuine(asked.sessionId)
  return asked
}

function isIntegrity({ report }: Failure): boolean {
  return report.kind === "integrity"
}

/** Refuses the answer to a redacted question: the person here sees only the recorded part of it. */
function assertSeen(asked: ApprovalSummary | null): void {
  if (asked?.state !== "open" || !asked.isRedacted) return
  throw new Failure({
    kind: "denied",
    code: "ACODE-APPR-005",
    message: `parts of the question were redacted from the record: ${asked.operation}`,
    hint: "answer at the terminal that asks, or resume the session in one: the prompt shows everything",
  })
}

/** Merges events and answers. Answers have streams of their own, since any process may give one. */
function eventsOf(store: Store, id: string): readonly SessionEvent[] {
  const own = store.log.read(id)
  const answers = own.flatMap(event => {
    const asked = approvalIdIn(event)
    return asked === null ? [] : store.log.read(asked)
  })
  return [...own, ...answers]
    .sort((a, b) => a.position - b.position)
    .map(({ at, type, data }, index) => ({ seq: index + 1, at, type, data }))
}

function approvalIdIn({ type, data }: StoredEvent): string | null {
  if (type !== ApprovalRequested.type) return null
  // The type of an event decides the shape of its data; nothing gets into the log that was not parsed with it.
  return (data as NewEvent<typeof ApprovalRequested>["data"]).approvalId
}
