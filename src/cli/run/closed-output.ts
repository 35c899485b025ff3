import { OutputClosed, OutputLost } from "../output.ts"

/**
 * Calls `leave` when nobody reads any more (`| head`) or nothing can be written (a full disk), so that the session
 * comes to rest instead of dying in the middle. Nothing is written afterwards.
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
    /** A reader that went away wanted no more; output that was lost has to be told. */
    assertNothingLost: (): void => {
      if (stoppedBy instanceof OutputLost) throw stoppedBy
    },
  }
}
