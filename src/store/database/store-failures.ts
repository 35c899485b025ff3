import { errnoOf, messageOf } from "../../base/assert.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { Failure, type FailureKind } from "../../domain/failure.ts"
import { systemReport } from "../../domain/system-report.ts"

/** Turns whatever SQLite or the file system threw into a Failure a person can act on. Bugs pass unchanged. */
export function asStoreFailure(thrown: unknown, where: string): unknown {
  if (thrown instanceof Failure) return thrown
  const code = errnoOf(thrown)
  if (code === null) return thrown
  if (/^(SQLITE_NOMEM|SQLITE_IOERR_NOMEM|ENOMEM|EMFILE|ENFILE)$/.test(code)) {
    const report = systemReport(thrown)
    return report === null ? thrown : new Failure({ ...report, where }, { cause: thrown })
  }
  const found = table.find(entry => entry.codes.test(code))
  if (found === undefined) return thrown
  const message = `${found.message} (${messageOf(thrown)})`
  return new Failure(
    { kind: found.kind, code: found.code, message, where, hint: found.hint },
    { cause: thrown },
  )
}

export function appendConflict(stream: string, reason: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-DB-007",
    message: `the event was not recorded: ${reason}`,
    where: stream,
    hint: "another acode has taken this over; `acode session list` and `acode runs list` show what it recorded",
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
    hint: "`acode audit verify` says what does not match; keep the file and restore a backup",
  })
}

export function changedEvent(
  { stream, seq, position }: { readonly stream: string; readonly seq: number; readonly position: number },
  problem: string,
): Failure {
  return changedHistory(`event ${seq} of ${stream}, at position ${position}: ${problem}`, stream)
}

/** A row names events that say something else, or says itself something else than they do. */
export function changedRow(table: string, id: string): Failure {
  return changedHistory(`the table ${table} does not say of ${id} what its events say`, id)
}

/** Takes note of what does not verify where that stops nothing, because all that is done with it is to show it. */
export type Noted = (failure: Failure) => void

/** Returns what work returns; null when what it reads was changed, which is noted. */
export function unlessChanged<Result>(noted: Noted, work: () => Result): Result | null {
  try {
    return work()
  } catch (error) {
    if (!isIntegrityFailure(error)) throw error
    noted(error)
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

/** Its hash is right, so nobody changed it: it was written so. */
export function unreadableArtifact(ref: string, cause: unknown): Failure {
  return new Failure(
    {
      kind: "integrity",
      code: "ACODE-SEC-004",
      message: "a value that the history names cannot be read: it is not JSON",
      where: ref,
      hint: "an older acode stored it so; `acode session show` and `acode session undo` still work, and `acode run GOAL` begins a new session",
    },
    { cause },
  )
}

export function missingArtifact(ref: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: "something that the history names is not there any more",
    where: ref,
    hint: "`acode audit verify` says what is missing",
  })
}

interface Mapping {
  readonly codes: RegExp
  readonly kind: FailureKind
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

/** First match wins. An I/O error is never tried again: after a failed fsync nobody knows what is on the disk. */
const table: readonly Mapping[] = [
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
    message: "there is no space left to record this",
    hint: "free some disk space; `acode storage free --to 0 --dry-run` shows what acode could. Nothing recorded so far is lost",
  },
  {
    codes: /^(SQLITE_READONLY|SQLITE_PERM|EROFS|EACCES|EPERM)/,
    kind: "general",
    code: "ACODE-DB-003",
    message: "the workspace database cannot be written",
    hint: "make the directory of the state and the files in it writable for this user",
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
    hint: "check that the directory of the state belongs to this user and lies on a working disk; `acode doctor` tells more",
  },
]
