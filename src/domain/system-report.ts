import { errnoOf, messageOf } from "../base/assert.ts"
import { oneLine } from "../base/text.ts"
import type { FailureReport } from "./failure.ts"

/**
 * Returns the report of an unexpected system error: the disk, memory, the limits of this process. Returns null for
 * everything else, which is an internal error.
 */
export function systemReport(thrown: unknown): FailureReport | null {
  const found = isOutOfMemory(thrown) ? outOfMemory : reports[errnoOf(thrown) ?? ""]
  if (found === undefined) return null
  const { code, message, hint } = found
  return { kind: "general", code, message: `${message} (${oneLine(messageOf(thrown), shownMax)})`, hint }
}

type Report = Required<Pick<FailureReport, "code" | "message" | "hint">>

const shownMax = 300

/**
 * Returns whether an error means that memory ran out. The runtime has no code for it: it throws JavaScript errors, or
 * continues without what it needs.
 */
function isOutOfMemory(thrown: unknown): boolean {
  return /out of memory|allocation failed|requires the JIT/i.test(messageOf(thrown))
}

const outOfMemory: Report = {
  code: "ACODE-SYS-001",
  message: "out of memory",
  hint: "end other programs, or remove the limit of this shell with `ulimit -v unlimited`",
}

const tooManyOpen: Report = {
  code: "ACODE-SYS-001",
  message: "too many open files",
  hint: "raise the limit of this shell, for example with `ulimit -n 4096`",
}

const noStorage: Report = {
  code: "ACODE-FS-010",
  message: "the disk is full, read-only or failing",
  hint: "free space or make the file system writable, then try again",
}

const noAccess: Report = {
  code: "ACODE-FS-005",
  message: "permission denied",
  hint: "check owner and mode of the file and of its directory",
}

const reports: Readonly<Record<string, Report>> = {
  ENOMEM: outOfMemory,
  SQLITE_NOMEM: outOfMemory,
  SQLITE_IOERR_NOMEM: outOfMemory,
  EMFILE: tooManyOpen,
  ENFILE: tooManyOpen,
  EAGAIN: {
    code: "ACODE-SYS-001",
    message: "the limit of processes for this user is reached",
    hint: "end other programs, or raise the limit of this shell with `ulimit -u`",
  },
  ENAMETOOLONG: {
    code: "ACODE-FS-001",
    message: "a path is too long",
    hint: "move the workspace or shorten its directory names",
  },
  ENOSPC: noStorage,
  EDQUOT: noStorage,
  EROFS: noStorage,
  EIO: noStorage,
  EACCES: noAccess,
  EPERM: noAccess,
}
