import { describe, expect, test } from "bun:test"
import { commandExit } from "../../src/exec/supervision.ts"

const exited = (exitCode: number) => ({ exitCode, signal: null })
const signalled = (signal: string) => ({ exitCode: null, signal })

describe("how a command ended, seen through a reaper", () => {
  test("a death by signal arrives as a code and is told as the signal", () => {
    for (const [code, signal] of [
      [130, "SIGINT"],
      [132, "SIGILL"],
      [134, "SIGABRT"],
      [137, "SIGKILL"],
      [139, "SIGSEGV"],
      [141, "SIGPIPE"],
      [143, "SIGTERM"],
      [152, "SIGXCPU"],
      [153, "SIGXFSZ"],
      [159, "SIGSYS"],
    ] as const)
      expect(commandExit(exited(code), true)).toEqual(signalled(signal))
  })

  test("ordinary codes stay what they are", () => {
    for (const code of [0, 1, 2, 42, 126, 127, 128, 200, 254, 255])
      expect(commandExit(exited(code), true)).toEqual(exited(code))
  })

  test("129 is a code, because git ends with it when it is called wrongly", () => {
    expect(commandExit(exited(129), true)).toEqual(exited(129))
  })

  test("codes of signals that end no program stay codes", () => {
    // SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGWINCH.
    for (const code of [145, 146, 147, 148, 156])
      expect(commandExit(exited(code), true)).toEqual(exited(code))
  })

  test("a signal that is seen as such needs no guess", () => {
    expect(commandExit(signalled("SIGTERM"), true)).toEqual(signalled("SIGTERM"))
  })
})

test("without a reaper a code above 128 is the program's own", () => {
  for (const code of [130, 137, 143]) expect(commandExit(exited(code), false)).toEqual(exited(code))
})
