import { errnoOf } from "../base/assert.ts"
import { quotedPath, shownPath } from "../base/path-names.ts"
import { counted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"

/** Reasons why something in the workspace cannot be read or changed: one meaning for each code, with one hint. */
const fileFailures = {
  malformed: {
    code: "ACODE-FS-001",
    hint: "give a plain path relative to the workspace, with / between names",
  },
  missing: { code: "ACODE-FS-002", hint: "list the directory to see what is there" },
  notRegular: { code: "ACODE-FS-003", hint: "name a regular file" },
  hardLinked: {
    code: "ACODE-FS-004",
    hint: "replace it by a copy of its own (cp it and mv it back), then try again",
  },
  denied: { code: "ACODE-FS-005", hint: "check owner and mode of the file and of its directory" },
  tooLarge: { code: "ACODE-FS-006", hint: "ask for a range of lines, or use a command" },
  changed: { code: "ACODE-FS-007", hint: "read it again and repeat the change on its new content" },
  exists: { code: "ACODE-FS-008", hint: "choose another name, or modify the file that is there" },
  notText: { code: "ACODE-FS-009", hint: "use a command that understands this kind of file" },
  storage: { code: "ACODE-FS-010", hint: "free space or make the file system writable, then try again" },
} as const

export type FileFailureKind = keyof typeof fileFailures

export function fileFailure(kind: FileFailureKind, path: string, why: string, cause?: unknown): Failure {
  const { code, hint } = fileFailures[kind]
  return new Failure(
    {
      kind: kind === "malformed" ? "usage" : "general",
      code,
      message: `${quotedPath(path)} ${why}`,
      where: shownPath(path),
      hint,
    },
    { cause },
  )
}

export function outsideWorkspace(typed: string, why = "is outside workspace"): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-SEC-005",
    message: `${quotedPath(typed)} ${why}`,
    where: shownPath(typed),
    hint: "use a path inside the workspace, or choose another workspace with -C",
  })
}

/** Turns a system error about `path` into a failure and returns any other error unchanged. */
export function systemFailure(error: unknown, path: string): unknown {
  const errno = errnoOf(error)
  if (errno === null || error instanceof Failure) return error
  const [kind, why] = systemReasons[errno] ?? ["storage", `cannot be used: ${errno}`]
  return fileFailure(kind, path, why, error)
}

/** Runs a step on `path` and names the path in every error. */
export function onPath<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw systemFailure(error, path)
  }
}

/** Adds to a failure that some paths were restored or removed before it, and how they come back. */
export function afterRestoring(error: unknown, count: number, keptId: string | null): unknown {
  if (!(error instanceof Failure) || count === 0 || keptId === null) return error
  const { message, hint } = error.report
  const kept = `what was there before is kept: \`acode checkpoint restore ${keptId}\``
  const report = {
    ...error.report,
    message: `${message}; ${counted(count, "path")} had been restored or removed by then`,
    hint: hint === undefined ? kept : `${hint}; ${kept}`,
  }
  return new Failure(report, { cause: error })
}

/** Returns the name of the errno of a raw system call. */
export function errnoName(errno: number): string {
  return errnoNames[errno] ?? `errno ${errno}`
}

const errnoNames: Readonly<Record<number, string>> = {
  1: "EPERM",
  2: "ENOENT",
  5: "EIO",
  6: "ENXIO",
  11: "EAGAIN",
  13: "EACCES",
  17: "EEXIST",
  18: "EXDEV",
  20: "ENOTDIR",
  21: "EISDIR",
  22: "EINVAL",
  23: "ENFILE",
  24: "EMFILE",
  28: "ENOSPC",
  30: "EROFS",
  34: "ERANGE",
  36: "ENAMETOOLONG",
  38: "ENOSYS",
  39: "ENOTEMPTY",
  40: "ELOOP",
  95: "EOPNOTSUPP",
  122: "EDQUOT",
}

const systemReasons: Readonly<Record<string, readonly [FileFailureKind, string]>> = {
  ENOENT: ["missing", "does not exist"],
  ENOTDIR: ["missing", "does not exist: one of its parents is not a directory"],
  EISDIR: ["notRegular", "is a directory"],
  ENXIO: ["notRegular", "is not a regular file"],
  EEXIST: ["exists", "exists already"],
  ENOTEMPTY: ["exists", "is a directory that is not empty"],
  EACCES: ["denied", "cannot be used: permission denied"],
  EPERM: ["denied", "cannot be used: the operation is not permitted"],
  ENAMETOOLONG: ["malformed", "is too long for a path"],
  EFBIG: ["tooLarge", "would become too large"],
  ENOSPC: ["storage", "cannot be written: the disk is full"],
  EDQUOT: ["storage", "cannot be written: the quota is used up"],
  EROFS: ["storage", "cannot be written: the file system is read-only"],
  EAGAIN: ["changed", "was moved while it was being opened"],
}
