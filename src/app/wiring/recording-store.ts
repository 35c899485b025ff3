import { closeSync, constants, fstatSync, ftruncateSync, statSync, writeSync } from "node:fs"
import { shownPath } from "../../base/path-names.ts"
import { counted } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import type { ModelSelection } from "../../domain/pipeline-settings.ts"
import { recordedModels } from "../../models/recorded.ts"
import { type Recording, readRecording } from "../../provider/script/recording-file.ts"
import { type GivenFile, givenText, openGivenFile, readGivenFile } from "./given-file.ts"

const recordingBytesMax = 256_000_000

export interface ReadRecording {
  readonly recording: Recording
  /** The selection of models; null for a recording of a script. */
  readonly models: ModelSelection | null
}

/** Returns `dev:ino` of a recording to be replayed. */
export function recordingId(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}:${ino}`
}

export function readRecordingFile(file: GivenFile): ReadRecording {
  return recordingIn(file, wholeLines(file))
}

export interface OpenRecording {
  /** `dev:ino` of the file. */
  readonly id: string
  readonly isNew: boolean
  append(line: string): void
  close(): void
}

/**
 * Opens a file to record to. A new session creates a new file and never overwrites one of the user's; a resumed one
 * continues its own file after the last complete line. A symlink is not followed: it may lead to an unintended file.
 */
export function openRecording(file: GivenFile, isResumed: boolean): OpenRecording {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
  const descriptor = openGivenFile(file, flags)
  const isNew = fstatSync(descriptor).size === 0
  try {
    if (!isNew) continueIn(file, descriptor, isResumed)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  const { dev, ino } = fstatSync(descriptor)
  return {
    id: `${dev}:${ino}`,
    isNew,
    append: line => writeWhole(descriptor, Buffer.from(`${line}\n`)),
    close: () => closeSync(descriptor),
  }
}

function continueIn(file: GivenFile, descriptor: number, isResumed: boolean): void {
  if (!isResumed)
    throw new Failure({
      kind: "usage",
      code: "ACODE-FS-008",
      message: "the file given to --record exists and is not empty",
      where: shownPath(file.path),
      hint: "name a new file; only `acode resume` continues an existing one",
    })
  const lines = wholeLines(file)
  recordingIn(file, lines)
  ftruncateSync(descriptor, lines.length)
}

/** Reads the complete lines. A last line cut off by the death of acode may end in the middle of a character. */
function wholeLines(file: GivenFile): Uint8Array {
  const bytes = readGivenFile(file, recordingBytesMax)
  return bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1)
}

function recordingIn(file: GivenFile, lines: Uint8Array): ReadRecording {
  const text = givenText(file, lines)
  const headLength = text.indexOf("\n") + 1
  const models = recordedModels(text.slice(0, headLength))
  const reading = readRecording(models === null ? text : text.slice(headLength))
  if ("recording" in reading) return { recording: reading.recording, models }
  const [first] = reading.problems
  const more = reading.problems.length > 1 ? `, and ${counted(reading.problems.length - 1, "more line")}` : ""
  throw new Failure({
    kind: "usage",
    code: "ACODE-MODEL-003",
    message: `the file given to ${file.flag} is not a recording: line ${first?.line} ${first?.message}${more}`,
    where: shownPath(file.path),
    hint: "name a file that --record has written",
  })
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
}
