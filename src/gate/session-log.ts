import type { NewEvent } from "../domain/events/definition.ts"
import { Failure, isStopped } from "../domain/failure.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { EventLog, Lease, Leases } from "../store/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import type { SessionLog } from "./contract.ts"

/** The lease that stands for the workspace itself: whoever holds it may change files. */
const workspaceLease = "workspace"

/** How often leases are renewed for those who cannot see this process: two lost beats do not lose them. */
const heartbeatMs = 15_000

export interface SessionLogParts {
  readonly log: EventLog
  readonly leases: Leases
  readonly owner: ProcessIdentity
}

/** A session this process drives. */
export interface DrivenSession extends SessionLog {
  /** Gives stream and workspace back. */
  release(): void
}

/**
 * Takes the workspace and the session's stream. Two processes never drive one session, nor two sessions one workspace;
 * what a dead process held is taken over at once.
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
      // Somebody who took this process for dead may drive another session in the workspace by now.
      const stored = parts.log.append(sessionId, seq, stream.epoch, events, workspace)
      seq += events.length
      return stored
    },
    whileOwned: work => parts.leases.whileHeld(stream, workspace, work),
    release: () => {
      clearInterval(beat)
      for (const lease of [stream, workspace]) parts.leases.release(lease)
    },
  }
}

/** A session that holds its stream all the time and the workspace only while it changes files. */
export interface SharingSession extends SessionLog {
  /** Takes the workspace; null while another process or another part of this one has it. */
  tryHold(): Disposable | null
  /** Gives the stream back. */
  release(): void
}

/** Takes a session's stream. Several such sessions share one workspace: each holds it for moments only. */
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
      if (held === null) throw new Error("files are changed only by who holds the workspace")
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

/** Holds the workspace without a session, to change only what is kept of it. Refused while a session is driven. */
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
 * Returns the digest of the tree for the end of a session; null when a person stops acode and reading the tree takes
 * longer than they would wait.
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
    // A database that is busy for once: the next beat comes in time, and a lost lease stops the next append.
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
    message: `another acode works in this workspace${pid === undefined ? "" : ` (process ${pid})`}`,
    where: stream,
    hint: "wait until it is done; `acode session list` shows what runs",
  })
}
