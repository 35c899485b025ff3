import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { errnoOf, messageOf } from "../../base/assert.ts"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { Failure } from "../../domain/failure.ts"

/** A file that a person named on the command line, and the flag that named it: null for an argument. */
export interface GivenFile {
  readonly path: string
  readonly flag: string | null
}

/** Reads the whole file. Never hangs, whatever is at the path, and never reads more than `bytesMax`. */
export function readGivenFile(file: GivenFile, bytesMax: number): Uint8Array {
  const descriptor = openGivenFile(file, constants.O_RDONLY)
  try {
    return bytesOf(file, descriptor, bytesMax)
  } finally {
    closeSync(descriptor)
  }
}

export function givenText(file: GivenFile, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch (error) {
    throw unusable(file, "ACODE-FS-009", "is not UTF-8 text", error)
  }
}

/** Opens a regular file and refuses anything else: opening a FIFO would wait for ever for a writer. */
export function openGivenFile(file: GivenFile, flags: number): number {
  let descriptor: number
  try {
    descriptor = openSync(file.path, flags | constants.O_NONBLOCK | constants.O_NOCTTY, 0o600)
  } catch (error) {
    const [code, message] = reasons[errnoOf(error) ?? ""] ?? [
      "ACODE-FS-010",
      `cannot be opened: ${oneLine(messageOf(error), 500)}`,
    ]
    throw (flags & constants.O_CREAT) !== 0 && code === "ACODE-FS-002"
      ? noDirectory(file, error)
      : unusable(file, code, message, error)
  }
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw unusable(file, "ACODE-FS-003", "is not a regular file")
}

function bytesOf(file: GivenFile, descriptor: number, bytesMax: number): Uint8Array {
  const { size } = fstatSync(descriptor)
  if (size > bytesMax)
    throw unusable(file, "ACODE-FS-006", `is larger than ${Math.floor(bytesMax / 1_000_000)} MB`)
  const bytes = new Uint8Array(size)
  let filled = 0
  while (filled < size) {
    const count = readSync(descriptor, bytes, filled, size - filled, null)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

const reasons: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  ENOENT: ["ACODE-FS-002", "does not exist"],
  ENOTDIR: ["ACODE-FS-002", "does not exist"],
  EISDIR: ["ACODE-FS-003", "is a directory, not a file"],
  ENXIO: ["ACODE-FS-003", "is not a regular file"],
  ELOOP: ["ACODE-FS-003", "is a symlink"],
  EACCES: ["ACODE-FS-005", "may not be opened by this user"],
  EPERM: ["ACODE-FS-005", "may not be opened by this user"],
  EROFS: ["ACODE-FS-010", "lies on a read-only file system"],
}

/** Returns the failure for a new file whose directory is missing. */
function noDirectory({ path, flag }: GivenFile, cause: unknown): Failure {
  const message = `the directory of ${nameOf(flag)} does not exist`
  const hint = "make it first, or name a file elsewhere"
  return new Failure(
    { kind: "usage", code: "ACODE-FS-002", message, where: shownPath(path), hint },
    { cause },
  )
}

function unusable({ path, flag }: GivenFile, code: ErrorCode, message: string, cause?: unknown): Failure {
  return new Failure(
    {
      kind: "usage",
      code,
      message: `${nameOf(flag)} ${message}`,
      where: shownPath(path),
      hint: flag === null ? "name a file that can be read" : `name a file with ${flag} FILE`,
    },
    { cause },
  )
}

function nameOf(flag: GivenFile["flag"]): string {
  return flag === null ? "the file" : `the file given to ${flag}`
}
