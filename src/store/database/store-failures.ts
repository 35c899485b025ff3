import { errnoOf, messageOf } from "../../base/assert.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { Failure, type FailureKind } from "../../domain/failure.ts"
import { systemReport } from "../../domain/system-report.ts"

/** Turns an error of SQLite or the file system into a Failure with a code and a hint. Returns bugs unchanged. */
export function asStoreFailure(thrown: unknown, where: string): unknown {
  if (thrown instanceof Failure) return thrown
  const code = errnoOf(thrown)
  if (code === null) return thrown
  if (/^(SQLITE_NOMEM|SQLITE_IOERR_NOMEM|ENOMEM|EMFILE|ENFILE)$/.test(code)) {
    const report = systemReport(thrown)
    return report === null ? thrown : new Failure({ ...report, where }, { cause: thrown })
  }
  const mapping = mappings.find(entry => entry.codes.test(code))
  if (mapping === undefined) return thrown
  const message = `${mapping.message} (${messageOf(thrown)})`
  return new Failure(
    { kind: mapping.kind, code: mapping.code, message, where, hint: mapping.hint },
    { cause: thrown },
  )
}

export function appendConflict(stream: string, reason: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-DB-007",
    message: `the event was not recorded: ${reason}`,
    where: stream,
    hint: "another acode took over; `acode session list` and `acode runs list` show what it recorded",
  })
}

export function unsafeState(path: string, reason: string, hint: string): Failure {
  return new Failure({ kind: "confinement", code: "ACODE-SEC-006", message: reason, where: path, hint })
}

export function changedHistory(reason: string, path: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: `the history was changed outside acode: ${reason}`,
    where: path,
    hint: "`acode audit verify` lists what does not match; keep the file and restore a backup",
  })
}

export function changedEvent(
  { stream, seq, position }: { readonly stream: string; readonly seq: number; readonly position: number },
  problem: string,
): Failure {
  return changedHistory(`event ${seq} of ${stream}, at position ${position}: ${problem}`, stream)
}

/** Reports a row that differs from what its events produce, or that refers to events of another object. */
export function changedRow(table: string, id: string): Failure {
  return changedHistory(`the row of ${id} in the table ${table} does not match its events`, id)
}

/** Records a failed verification where it stops nothing, because the data is only shown. */
export type NoteFailure = (failure: Failure) => void

/** Returns the result of `work`; if the data it reads was changed, notes the failure and returns null. */
export function unlessChanged<Result>(note: NoteFailure, work: () => Result): Result | null {
  try {
    return work()
  } catch (error) {
    if (!isIntegrityFailure(error)) throw error
    note(error)
    return null
  }
}

function isIntegrityFailure(error: unknown): error is Failure {
  return error instanceof Failure && error.report.kind === "integrity"
}

export function brokenArtifact(ref: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: "the content of an artifact does not match its name",
    where: ref,
    hint: "it was changed outside acode; `acode audit verify` lists everything that does not match",
  })
}

/** Reports an artifact that is not JSON. Its hash is right, so it was not changed: it was written like this. */
export function unreadableArtifact(ref: string, cause: unknown): Failure {
  return new Failure(
    {
      kind: "integrity",
      code: "ACODE-SEC-004",
      message: "a stored value of the history cannot be read: it is not JSON",
      where: ref,
      hint: "an older acode stored it like this; `acode session show` and `acode session undo` still work, and `acode run GOAL` begins a new session",
    },
    { cause },
  )
}

export function missingArtifact(ref: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: "an artifact that the history refers to is missing",
    where: ref,
    hint: "`acode audit verify` lists what is missing",
  })
}

interface Mapping {
  readonly codes: RegExp
  readonly kind: FailureKind
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

/** The first match applies. An I/O error is never retried: after a failed fsync the content of the disk is unknown. */
const mappings: readonly Mapping[] = [
  {
    codes: /^(SQLITE_BUSY|SQLITE_LOCKED|SQLITE_PROTOCOL)/,
    kind: "general",
    code: "ACODE-DB-002",
    message: "the workspace database is locked by another process",
    hint: "wait for the other acode to finish, or end it, and try again",
  },
  {
    codes: /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/,
    kind: "general",
    code: "ACODE-DB-004",
    message: "no space is left to record this",
    hint: "free some disk space; `acode storage free --to 0 --dry-run` shows what acode can free. Nothing recorded so far is lost",
  },
  {
    codes: /^(SQLITE_READONLY|SQLITE_PERM|EROFS|EACCES|EPERM)/,
    kind: "general",
    code: "ACODE-DB-003",
    message: "the workspace database cannot be written",
    hint: "make the state directory and the files in it writable for this user",
  },
  {
    codes: /^(SQLITE_CORRUPT|SQLITE_NOTADB|SQLITE_FORMAT|SQLITE_SCHEMA)/,
    kind: "integrity",
    code: "ACODE-DB-005",
    message: "the workspace database is damaged",
    hint: "keep the file for inspection and restore a backup, or move it away to start a new history",
  },
  {
    codes: /^(SQLITE_CANTOPEN|SQLITE_IOERR|SQLITE_TOOBIG|E[A-Z0-9]+$)/,
    kind: "general",
    code: "ACODE-DB-001",
    message: "the workspace database cannot be opened, read or written",
    hint: "check that the state directory belongs to this user and lies on a working disk; `acode doctor` shows more",
  },
]
