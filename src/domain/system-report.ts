import { errnoOf, messageOf } from "../base/assert.ts"
import { oneLine } from "../base/text.ts"
import type { FailureReport } from "./failure.ts"

/**
 * Returns what a person is told of an error of the system that nobody expected where it was met: the disk, memory, the
 * limits of this process. Null for everything else, which is a mistake of acode.
 */
export function systemReport(thrown: unknown): FailureReport | null {
  const found = isOutOfMemory(thrown) ? outOfMemory : reports[errnoOf(thrown) ?? ""]
  if (found === undefined) return null
  const { code, message, hint } = found
  return { kind: "general", code, message: `${message} (${oneLine(messageOf(thrown), shownMax)})`, hint }
}

type Report = Required<Pick<FailureReport, "code" | "message" | "hint">>

const shownMax = 300

/** The runtime has no code for it: it throws what JavaScript has, or does without what it needs. */
function isOutOfMemory(thrown: unknown): boolean {
  return /out of memory|allocation failed|requires the JIT/i.test(messageOf(thrown))
}

const outOfMemory: Report = {
  code: "ACODE-SYS-001",
  message: "there is too little memory for this",
  hint: "end other programs, or lift the limit of this shell with `ulimit -v unlimited`",
}

const tooManyOpen: Report = {
  code: "ACODE-SYS-001",
  message: "too many files are open at once",
  hint: "raise the limit of this shell, for example with `ulimit -n 4096`",
}

const noStorage: Report = {
  code: "ACODE-FS-010",
  message: "the disk is full, read-only or failing",
  hint: "make room or make the file system writable, then try again",
}

const noAccess: Report = {
  code: "ACODE-FS-005",
  message: "this user may not use it",
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
    message: "the system has no processes left for this user",
    hint: "end other programs, or raise the limit of this shell with `ulimit -u`",
  },
  ENAMETOOLONG: {
    code: "ACODE-FS-001",
    message: "a path is longer than the system allows",
    hint: "move or shorten the directories it goes through",
  },
  ENOSPC: noStorage,
  EDQUOT: noStorage,
  EROFS: noStorage,
  EIO: noStorage,
  EACCES: noAccess,
  EPERM: noAccess,
}
