import { existsSync, renameSync } from "node:fs"
import { hmacHex } from "../base/canonical.ts"
import { type Clock, toIso } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import { HistoryAccepted } from "../domain/events/command-events.ts"
import { newEvent } from "../domain/events/definition.ts"
import { Failure } from "../domain/failure.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import { createArtifacts, storedBytes } from "./artifacts/artifacts.ts"
import { artifactReferences, isReferenced } from "./artifacts/references.ts"
import type { AcceptedHistory, Store, StoreRedactor } from "./contract.ts"
import { type DatabaseConnection, guarded, openDatabase } from "./database/database.ts"
import { migrate } from "./database/migrations.ts"
import { unlessChanged } from "./database/store-failures.ts"
import type { Projector } from "./database/table-projection.ts"
import { createEvidence } from "./evidence/evidence.ts"
import { executionsProjection } from "./executions/execution-projection.ts"
import { createExecutions } from "./executions/executions.ts"
import { assertAnchored, assertGenuine } from "./genuine.ts"
import { createLeases } from "./leases.ts"
import {
  type AnchorDeps,
  acceptancePrefix,
  acceptedHistories,
  anchorPath,
  ensureFirstAnchor,
  knownAnchors,
  othersAnchoredAt,
  startAnchors,
  writeAnchor,
} from "./log/anchors.ts"
import { createEventLog, type LogWriter } from "./log/event-log.ts"
import { type LogIdentity, openLogIdentity } from "./log/log-identity.ts"
import { type Liveness, livenessOf, uptimeMs } from "./process-identity.ts"
import { assertRecentRows } from "./projection-check.ts"
import { sessionProjections } from "./projections.ts"
import { createApprovals } from "./session/approvals.ts"
import { sessionFacts } from "./session/session-facts.ts"
import { createSessions } from "./session/sessions.ts"
import { assertStateDirectory, prepareStateDirectory } from "./state-directory.ts"
import { createUpkeep } from "./upkeep/upkeep.ts"
import { anchorFindings, integrityProblems, type VerifyDeps, verifyLog } from "./verify.ts"

export interface StoreOptions {
  readonly databasePath: string
  readonly artifactsDirectory: string
  readonly keysDirectory: string
  readonly anchorsDirectory: string
  /** The directory that holds the history. Anchors record it. */
  readonly stateDirectory: string
  readonly redactor: StoreRedactor
  readonly clock: Clock
  readonly faults: Faults
  /** The owner of what this process starts. */
  readonly self: ProcessIdentity
  readonly liveness?: (owner: ProcessIdentity) => Liveness
  /** Returns the time since the machine started. */
  readonly uptimeMs?: () => number
  /** Opens an existing history and changes nothing. Fails with ACODE-DB-001 if there is none. */
  readonly readOnly?: boolean
  readonly busyTimeoutMs?: number
  /** The time that the lease of an owner that cannot be inspected holds without being renewed. */
  readonly hiddenLeaseMs?: number
  /** The time that a granted approval may be used after it was given. */
  readonly answerLastsMs?: number
  /** Longer output texts are stored as artifacts. */
  readonly inlineBytesMax?: number
  /** Returns the paths that were quarantined after the acode of a command died. */
  readonly quarantinedOf?: (executionId: string) => readonly string[]
  /** False keeps the output of commands out of the history. */
  readonly includeOutput?: boolean
}

const defaults = {
  busyTimeoutMs: 10_000,
  hiddenLeaseMs: 60_000,
  answerLastsMs: 600_000,
  inlineBytesMax: 10_240,
}

/** Opens the history of a workspace, and creates it on first use. Throws a Failure that says what is wrong with it. */
export function openStore(options: StoreOptions): Store {
  const { databasePath, artifactsDirectory, faults, clock } = options
  const readOnly = options.readOnly ?? false
  guarded(databasePath, () =>
    readOnly
      ? assertStateDirectory(databasePath, artifactsDirectory)
      : prepareStateDirectory(databasePath, artifactsDirectory),
  )
  const busyTimeoutMs = options.busyTimeoutMs ?? defaults.busyTimeoutMs
  const connection = openDatabase({ path: databasePath, readOnly, busyTimeoutMs, faults })
  try {
    const identity = guarded(databasePath, () => {
      migrate(connection, () => toIso(clock.now()))
      return openLogIdentity(connection, options.keysDirectory, faults)
    })
    return assembled(options, connection, identity)
  } catch (error) {
    connection[Symbol.dispose]()
    throw error
  }
}

function assembled(options: StoreOptions, connection: DatabaseConnection, identity: LogIdentity): Store {
  const { artifactsDirectory, anchorsDirectory, stateDirectory, redactor, clock } = options
  const artifacts = createArtifacts({ ...options, directory: artifactsDirectory })
  const changed: Failure[] = []
  const note = (failure: Failure) => void changed.push(failure)
  const projectors = projectorsOf(connection, artifactsDirectory)
  const log = createEventLog({ connection, identity, redactor, clock, projectors })
  const { append, read, each, lastSeq, mentions } = log
  const facts = sessionFacts(log)
  const shared = { connection, log, artifacts, facts, note, clock, self: options.self }
  const timing = timingOf(options)
  const held = { connection, identity, log, anchorsDirectory, stateDirectory, clock }
  const upkeep = createUpkeep({ ...shared, ...timing, artifactsDirectory })
  const executions = createExecutions({
    ...shared,
    artifactsDirectory,
    inlineBytesMax: options.inlineBytesMax ?? defaults.inlineBytesMax,
    includeOutput: options.includeOutput ?? true,
    quarantinedOf: options.quarantinedOf ?? (() => []),
  })
  if (!connection.readOnly) guarded(anchorsDirectory, () => ensureFirstAnchor(held))
  return {
    workspaceId: identity.workspaceId,
    log: { append, read, each, lastSeq, mentions },
    leases: createLeases({
      connection,
      ...timing,
      hiddenLeaseMs: options.hiddenLeaseMs ?? defaults.hiddenLeaseMs,
    }),
    artifacts,
    executions,
    sessions: createSessions(shared),
    approvals: createApprovals({
      ...shared,
      anchors: () => knownAnchors(held).anchors,
      acceptedAt: () => acceptedHistories(log).at(-1)?.position ?? 0,
      answerLastsMs: options.answerLastsMs ?? defaults.answerLastsMs,
    }),
    evidence: createEvidence(shared, artifacts),
    upkeep,
    fingerprint: text => hmacHex(identity.key, ["fingerprint", text]),
    anchor: () => {
      guarded(anchorsDirectory, () => writeAnchor(held))
      upkeep.note()
    },
    verify: id => verifyLog({ ...held, artifactsDirectory, problemsMax: 100 }, id),
    assertAnchored: () => guarded(anchorsDirectory, () => assertAnchored(held)),
    assertRecentRows: () =>
      guarded(connection.path, () => connection.snapshot(() => assertRecentRows(connection, identity))),
    assertGenuine: sessionId => guarded(anchorsDirectory, () => assertGenuine(held, sessionId)),
    accept: given => acceptHistory({ ...held, artifactsDirectory, problemsMax: 100 }, given),
    changed: () => changed,
    noteChanged: work => unlessChanged(note, work),
    missingArtifacts: () => stillReferenced(connection, artifacts.missing),
    fileProblems: () => guarded(connection.path, () => integrityProblems(connection)),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

function projectorsOf(connection: DatabaseConnection, artifactsDirectory: string): readonly Projector[] {
  return [
    executionsProjection(connection),
    artifactReferences(connection, ref => storedBytes(artifactsDirectory, ref) !== null),
    ...sessionProjections.map(projection => projection.projector(connection)),
  ]
}

function timingOf({ liveness, uptimeMs: uptime }: StoreOptions) {
  return {
    liveness: liveness ?? ((owner: ProcessIdentity) => livenessOf(owner)),
    uptimeMs: uptime ?? uptimeMs,
  }
}

function stillReferenced(connection: DatabaseConnection, refs: ReadonlySet<string>): readonly string[] {
  return guarded(connection.path, () => [...refs].filter(ref => isReferenced(connection, ref)))
}

interface AcceptanceDeps extends AnchorDeps, VerifyDeps {
  readonly log: LogWriter
}

/**
 * Records that a person accepts a history that does not match its anchors, and starts new anchors. The old ones are
 * kept beside them. Events and tables that do not verify are not accepted, and stay findings.
 */
function acceptHistory(
  deps: AcceptanceDeps,
  given: { readonly by: string; readonly reason: string; readonly setAside: string | null },
): AcceptedHistory {
  const findings = anchorFindings(deps)
    .map(({ what }) => what)
    .slice(0, findingsMax)
  if (findings.length === 0 && given.setAside === null) throw nothingToAccept(deps.connection.path)
  const { log, connection } = deps
  const prepared = log.prepare([newEvent(HistoryAccepted, { ...given, findings: [...findings] })])
  const [event] = connection.transaction("accept", () =>
    log.write(`${acceptancePrefix}${Bun.randomUUIDv7()}`, 0, 1, prepared),
  )
  if (event === undefined) throw new Error("an acceptance is one event")
  // After the event: a crash in between leaves the findings, and they can be accepted again.
  const { anchorsDirectory, stateDirectory, identity } = deps
  const ids = [
    identity.workspaceId,
    ...othersAnchoredAt(anchorsDirectory, stateDirectory, identity.workspaceId),
  ]
  for (const id of ids) keepAside(anchorPath(anchorsDirectory, id))
  startAnchors(deps)
  return { ...given, findings, position: event.position, at: event.at }
}

const findingsMax = 20

/** Renames the anchor file: it is evidence, so nothing of it is removed. */
function keepAside(path: string): void {
  if (!existsSync(path)) return
  let count = 1
  while (existsSync(`${path}.accepted-${count}`)) count += 1
  renameSync(path, `${path}.accepted-${count}`)
}

function nothingToAccept(path: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: "the history matches its anchors, so there is nothing to accept",
    where: path,
    hint: "`acode audit verify` lists other problems; changed events cannot be accepted",
  })
}
