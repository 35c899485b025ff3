import { OutputClosed, OutputLost } from "../output.ts"

/**
 * Calls `leave` when the output is closed (`| head`) or cannot be written (a full disk), so that the session pauses
 * instead of being killed in the middle. Nothing is written afterwards.
 */
export function whileRead(leave: () => void) {
  let stoppedBy: OutputClosed | OutputLost | null = null
  return {
    show: (write: () => void): void => {
      if (stoppedBy !== null) return
      try {
        write()
      } catch (error) {
        if (!(error instanceof OutputClosed || error instanceof OutputLost)) throw error
        stoppedBy = error
        leave()
      }
    },
    /** Throws when output was lost. Output that its reader closed is not an error. */
    assertNothingLost: (): void => {
      if (stoppedBy instanceof OutputLost) throw stoppedBy
    },
  }
}
