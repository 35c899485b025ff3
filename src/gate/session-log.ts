import type { NewEvent } from "../domain/events/definition.ts"
import { Failure, isStopped } from "../domain/failure.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { EventLog, Lease, Leases } from "../store/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import type { SessionLog } from "./contract.ts"

/** The lease of the workspace itself: only its holder may change files. */
const workspaceLease = "workspace"

/** The interval of heartbeats, for processes that cannot see this one. Two missed heartbeats do not lose a lease. */
const heartbeatMs = 15_000

export interface SessionLogParts {
  readonly log: EventLog
  readonly leases: Leases
  readonly owner: ProcessIdentity
}

/** A session that this process drives. */
export interface DrivenSession extends SessionLog {
  /** Releases the stream and the workspace. */
  release(): void
}

/**
 * Takes the workspace and the stream of a session. Two processes never drive one session, nor two sessions one
 * workspace; leases of a dead process are taken over at once.
 */
export function driveSession(parts: SessionLogParts, sessionId: string): DrivenSession {
  const workspace = acquire(parts, workspaceLease)
  const stream = acquire(parts, sessionId, workspace)
  let seq = parts.log.lastSeq(sessionId)
  const beat = setInterval(() => renew(parts.leases, [workspace, stream]), heartbeatMs)
  beat.unref()
  return {
    sessionId,
    append: (events: readonly NewEvent[]) => {
      // A process that considered this one dead may drive another session in the workspace by now.
      const stored = parts.log.append(sessionId, seq, stream.epoch, events, workspace)
      seq += events.length
      return stored
    },
    whileOwned: work => parts.leases.whileHeld(stream, workspace, work),
    release: () => {
      clearInterval(beat)
      releaseAll(parts.leases, [stream, workspace])
    },
  }
}

/** A session that holds its stream all the time and the workspace only while it changes files. */
export interface SharingSession extends SessionLog {
  /** Takes the workspace; returns null while another process or another session of this one has it. */
  tryHold(): Disposable | null
  /** Releases the stream. */
  release(): void
}

/** Takes the stream of a session. Several such sessions share one workspace: each holds it only briefly. */
export function driveSharingSession(parts: SessionLogParts, sessionId: string): SharingSession {
  const stream = acquire(parts, sessionId)
  let seq = parts.log.lastSeq(sessionId)
  let held: Lease | null = null
  const beat = setInterval(() => renew(parts.leases, held === null ? [stream] : [stream, held]), heartbeatMs)
  beat.unref()
  return {
    sessionId,
    append: (events: readonly NewEvent[]) => {
      const stored = parts.log.append(sessionId, seq, stream.epoch, events, held ?? stream)
      seq += events.length
      return stored
    },
    whileOwned: work => {
      if (held === null) throw new Error("only the holder of the workspace changes files")
      return parts.leases.whileHeld(stream, held, work)
    },
    tryHold: () => {
      if (held !== null) return null
      const workspace = parts.leases.acquire(workspaceLease, parts.owner)
      if (workspace === null) return null
      held = workspace
      return {
        [Symbol.dispose]: () => {
          held = null
          parts.leases.release(workspace)
        },
      }
    },
    release: () => {
      clearInterval(beat)
      parts.leases.release(stream)
    },
  }
}

/**
 * Takes the workspace without a session, to change only acode's own state of it. Refused while a session is driven.
 */
export function holdWorkspace(parts: Omit<SessionLogParts, "log">): Disposable {
  const workspace = acquire(parts, workspaceLease)
  const beat = setInterval(() => renew(parts.leases, [workspace]), heartbeatMs)
  beat.unref()
  return {
    [Symbol.dispose]: () => {
      clearInterval(beat)
      parts.leases.release(workspace)
    },
  }
}

/**
 * Returns the digest of the tree for the end of a session; null when the user stops acode and reading the tree takes
 * too long.
 */
export async function lastDigest(workspace: Workspace): Promise<string | null> {
  try {
    return (await workspace.tree({ graceMs: 1000 })).digest
  } catch (error) {
    if (isStopped(error)) return null
    throw error
  }
}

function renew(leases: Leases, held: readonly Lease[]): void {
  try {
    for (const lease of held) leases.renew(lease)
  } catch (error) {
    // The database is busy: the next heartbeat is early enough, and a lost lease stops the next append.
    if (!(error instanceof Failure)) throw error
  }
}

/** Releases leases. A failure hides no other one: leases of a process that has ended are taken over at once. */
function releaseAll(leases: Leases, held: readonly Lease[]): void {
  try {
    for (const lease of held) leases.release(lease)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
}

function acquire({ leases, owner }: Omit<SessionLogParts, "log">, stream: string, held?: Lease): Lease {
  const lease = leases.acquire(stream, owner)
  if (lease !== null) return lease
  if (held !== undefined) leases.release(held)
  const pid = leases.owner(stream)?.pid
  throw new Failure({
    kind: "general",
    code: "ACODE-ORCH-008",
    message: `another acode is using this workspace${pid === undefined ? "" : ` (process ${pid})`}`,
    where: stream,
    hint: "wait until it ends; `acode session list` prints running sessions",
  })
}
