import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { Lease, Leases } from "./contract.ts"
import { type DatabaseConnection, guarded } from "./database/database.ts"
import { appendConflict } from "./database/store-failures.ts"
import type { Liveness } from "./process-identity.ts"

/** The dependencies of leases. */
export interface LeaseDeps {
  readonly connection: DatabaseConnection
  readonly liveness: (owner: ProcessIdentity) => Liveness
  /** Time since the machine started: the same for all its processes, and no process can set it. */
  readonly uptimeMs: () => number
  /** The time that the lease of an owner that cannot be inspected holds without being renewed. */
  readonly hiddenLeaseMs: number
}

export function createLeases(deps: LeaseDeps): Leases {
  const { connection } = deps
  return {
    acquire: (stream, owner) => connection.transaction("lease", () => acquire(deps, stream, owner)),
    renew: lease =>
      connection.transaction("lease", () => {
        const { changes } = connection.db
          .query("UPDATE leases SET expires_at = ? WHERE stream = ? AND epoch = ? AND boot_id IS NOT NULL")
          .run(endOf(deps), lease.stream, lease.epoch)
        return changes === 1
      }),
    whileHeld: (lease, under, work) =>
      connection.transaction("held", () => {
        assertLeases(connection, lease, under)
        return work()
      }),
    owner: stream => guarded(connection.path, () => leaseOwner(connection, stream)),
    release: lease => connection.transaction("lease", () => releaseLease(connection, lease)),
  }
}

/**
 * Throws unless the caller holds the lease. Called in the transaction of an append: a stale owner finds a higher epoch
 * here and is refused.
 */
export function assertLeases(connection: DatabaseConnection, lease: Lease, under: Lease = lease): void {
  const held = connection.db
    .query<HeldEpochs, [string, string]>(`SELECT ${heldEpochs}`)
    .get(lease.stream, under.stream)
  assertHeld(lease, under, held)
}

export interface HeldEpochs {
  readonly own: number | null
  readonly other: number | null
  /** The owner of the second lease, as one text. */
  readonly holder: string | null
}

/** Columns of a query whose first parameter is the stream of one lease and whose second is that of the other. */
export const heldEpochs = `(SELECT epoch FROM leases WHERE stream = ?1 AND boot_id IS NOT NULL) AS own,
  (SELECT epoch FROM leases WHERE stream = ?2 AND boot_id IS NOT NULL) AS other,
  (SELECT boot_id || ' ' || pid || ' ' || start_ticks FROM leases WHERE stream = ?2) AS holder`

export function assertHeld(lease: Lease, under: Lease, held: HeldEpochs | null): void {
  assertEpoch(lease, held?.own ?? null)
  assertEpoch(under, held?.other ?? null)
  const { stream, owner } = under
  // A row states one owner: if a changed table gave two processes the same epoch, one of them is refused.
  if (owner !== undefined && held?.holder !== `${owner.bootId} ${owner.pid} ${owner.startTicks}`)
    throw appendConflict(stream, "it belongs to another process")
}

function assertEpoch({ stream, epoch }: Lease, held: number | null): void {
  if (held === null) throw appendConflict(stream, "no process holds its lease")
  if (held !== epoch)
    throw appendConflict(stream, `its lease has epoch ${held}, and this process has epoch ${epoch}`)
}

/** Returns the process that may append to the stream now. */
export function leaseOwner(connection: DatabaseConnection, stream: string): ProcessIdentity | null {
  const row = readRow(connection, stream)
  return row === null ? null : ownerOf(row)
}

/** Takes the lease of a stream. It has no end: only the death of its owner frees it. The caller holds a transaction. */
export function takeLease(connection: DatabaseConnection, stream: string, owner: ProcessIdentity): Lease {
  const epoch = nextEpoch(connection, stream, readRow(connection, stream))
  writeLease(connection, { stream, epoch }, owner, null)
  return { stream, epoch }
}

/**
 * Removes the lease of a stream that is permanently closed and needs no epoch again. The caller holds a transaction.
 */
export function dropLease(connection: DatabaseConnection, stream: string): void {
  connection.db.query("DELETE FROM leases WHERE stream = ?").run(stream)
}

function acquire(deps: LeaseDeps, stream: string, owner: ProcessIdentity): Lease | null {
  const { connection } = deps
  const row = readRow(connection, stream)
  const holder = row === null ? null : ownerOf(row)
  if (row !== null && holder !== null && isHeld(deps, holder, row.expiresAt)) return null
  const lease = { stream, epoch: nextEpoch(connection, stream, row), owner }
  writeLease(connection, lease, owner, endOf(deps))
  return lease
}

/**
 * Returns whether a lease is held. The life of its owner decides, not a clock. An owner in another pid namespace of
 * this boot cannot be inspected: it holds the lease while it renews it, by a clock that both share.
 */
function isHeld(deps: LeaseDeps, holder: ProcessIdentity, endsAt: number | null): boolean {
  const liveness = deps.liveness(holder)
  if (liveness !== "hidden" || endsAt === null) return liveness !== "dead"
  // An end later than any owner writes is from an older acode, which used another clock.
  return endsAt > deps.uptimeMs() && endsAt <= endOf(deps)
}

function endOf({ uptimeMs, hiddenLeaseMs }: LeaseDeps): number {
  return uptimeMs() + hiddenLeaseMs
}

interface LeaseRow {
  readonly epoch: number
  readonly bootId: string | null
  readonly pid: number | null
  readonly startTicks: string | null
  /** Counted from the start of the machine. */
  readonly expiresAt: number | null
}

function ownerOf(row: LeaseRow): ProcessIdentity | null {
  const { bootId, pid, startTicks } = row
  return bootId === null || pid === null || startTicks === null ? null : { bootId, pid, startTicks }
}

function readRow(connection: DatabaseConnection, stream: string): LeaseRow | null {
  return connection.db
    .query<LeaseRow, [string]>(
      `SELECT epoch, boot_id AS bootId, pid, start_ticks AS startTicks, expires_at AS expiresAt
       FROM leases WHERE stream = ?`,
    )
    .get(stream)
}

/** Returns an epoch above all earlier ones, in the lease and in the events: a row can be removed or changed. */
function nextEpoch(connection: DatabaseConnection, stream: string, row: LeaseRow | null): number {
  const last = connection.db
    .query<{ epoch: number }, [string]>("SELECT epoch FROM events WHERE stream = ? ORDER BY seq DESC LIMIT 1")
    .get(stream)
  return Math.max(row?.epoch ?? 0, last?.epoch ?? 0) + 1
}

function writeLease(
  connection: DatabaseConnection,
  lease: Lease,
  owner: ProcessIdentity,
  expiresAt: number | null,
): void {
  connection.db
    .query(
      `INSERT INTO leases (stream, epoch, boot_id, pid, start_ticks, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (stream) DO UPDATE SET epoch = excluded.epoch, boot_id = excluded.boot_id, pid = excluded.pid,
         start_ticks = excluded.start_ticks, expires_at = excluded.expires_at`,
    )
    .run(lease.stream, lease.epoch, owner.bootId, owner.pid, owner.startTicks, expiresAt)
}

/** Keeps the row, because its epoch must not be given out a second time. */
function releaseLease(connection: DatabaseConnection, lease: Lease): void {
  connection.db
    .query(
      `UPDATE leases SET boot_id = NULL, pid = NULL, start_ticks = NULL, expires_at = NULL
       WHERE stream = ? AND epoch = ?`,
    )
    .run(lease.stream, lease.epoch)
}
