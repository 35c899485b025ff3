import { hmacHex } from "../base/canonical.ts"
import { type Clock, toIso } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import type { Failure } from "../domain/failure.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import { acceptHistory } from "./acceptance.ts"
import { acceptedHistories, ensureFirstAnchor, knownAnchors, writeAnchor } from "./anchors.ts"
import { artifactReferences, isReferenced } from "./artifact-references.ts"
import { createArtifacts, storedBytes } from "./artifacts.ts"
import type { Store, StoreRedactor } from "./contract.ts"
import { type Connection, guarded, openDatabase } from "./database.ts"
import { createEventLog } from "./event-log.ts"
import { createEvidence } from "./evidence/evidence.ts"
import { executionsProjection } from "./execution-projection.ts"
import { createExecutions } from "./executions.ts"
import { assertAnchored, assertGenuine } from "./genuine.ts"
import { createLeases } from "./leases.ts"
import { type LogIdentity, openLogIdentity } from "./log-identity.ts"
import { migrate } from "./migrations.ts"
import { type Liveness, livenessOf, uptimeMs } from "./process-identity.ts"
import { sessionProjections } from "./projections.ts"
import { createApprovals } from "./session/approvals.ts"
import { sessionFacts } from "./session/session-facts.ts"
import { createSessions } from "./session/sessions.ts"
import { assertStateDirectory, prepareStateDirectory } from "./state-directory.ts"
import { unlessChanged } from "./store-failures.ts"
import { createUpkeep } from "./upkeep/upkeep.ts"
import { integrityProblems, verifyLog } from "./verify.ts"

export interface StoreOptions {
  readonly databasePath: string
  readonly artifactsDirectory: string
  readonly keysDirectory: string
  readonly anchorsDirectory: string
  /** The directory that holds the history; anchors name it. */
  readonly place: string
  readonly redactor: StoreRedactor
  readonly clock: Clock
  readonly faults: Faults
  /** This process, as the owner of what it starts. */
  readonly self: ProcessIdentity
  readonly liveness?: (owner: ProcessIdentity) => Liveness
  /** Time since the machine was started. */
  readonly uptimeMs?: () => number
  /** Opens what is there and changes nothing. Fails with ACODE-DB-001 when nothing is there. */
  readonly readOnly?: boolean
  readonly busyTimeoutMs?: number
  /** How long the lease of an owner that cannot be inspected holds without being renewed. */
  readonly hiddenLeaseMs?: number
  /** How long a granted approval may wait to be used. */
  readonly answerLastsMs?: number
  /** Output texts above this are artifacts. */
  readonly inlineBytesMax?: number
  /** What a scan after the death of its acode took away of what a command left. */
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

/** Opens the history of a workspace, and makes it on first use. Throws a Failure that says what is wrong with it. */
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

function assembled(options: StoreOptions, connection: Connection, identity: LogIdentity): Store {
  const { artifactsDirectory, anchorsDirectory, place, redactor, clock } = options
  const artifacts = createArtifacts({ ...options, directory: artifactsDirectory })
  const changed: Failure[] = []
  const noted = (failure: Failure) => void changed.push(failure)
  const projectors = [
    executionsProjection(connection),
    artifactReferences(connection, ref => storedBytes(artifactsDirectory, ref) !== null),
    ...sessionProjections.map(projection => projection.projector(connection)),
  ]
  const log = createEventLog({ connection, identity, redactor, clock, projectors })
  const { append, read, each, lastSeq, tellsOf } = log
  const facts = sessionFacts(log)
  const shared = { connection, log, artifacts, facts, noted, clock, self: options.self }
  const timing = timingOf(options)
  const held = { connection, identity, log, anchorsDirectory, place, clock }
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
    log: { append, read, each, lastSeq, tellsOf },
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
    assertGenuine: sessionId => guarded(anchorsDirectory, () => assertGenuine(held, sessionId)),
    accept: given => acceptHistory({ ...held, artifactsDirectory, problemsMax: 100 }, given),
    changed: () => changed,
    noteChanged: work => unlessChanged(noted, work),
    missingArtifacts: () => stillNamed(connection, artifacts.missing),
    fileProblems: () => guarded(connection.path, () => integrityProblems(connection)),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

function timingOf({ liveness, uptimeMs: uptime }: StoreOptions) {
  return {
    liveness: liveness ?? ((owner: ProcessIdentity) => livenessOf(owner)),
    uptimeMs: uptime ?? uptimeMs,
  }
}

function stillNamed(connection: Connection, refs: ReadonlySet<string>): readonly string[] {
  return guarded(connection.path, () => [...refs].filter(ref => isReferenced(connection, ref)))
}
