import type { ErrorCode } from "./error-code.ts"

/** Of the model that a session talks to, and of the files that can stand in for one. */
export const modelErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-MODEL-001",
    meaning: "No model is configured.",
    action: "Run with --script FILE; real model servers come with a later version.",
  },
  {
    code: "ACODE-MODEL-002",
    meaning: "A script is not valid; the message lists everything that is wrong with it.",
    action: "Correct what is named; `acode schema script` describes the format.",
  },
  {
    code: "ACODE-MODEL-003",
    meaning: "A recording cannot be replayed or written on: it holds something else, or a damaged line.",
    action: "Name a file that --record has written, or record to a new one.",
  },
]
