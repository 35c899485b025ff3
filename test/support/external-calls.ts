import type { ExternalCallLog } from "../../src/provider/transport/contract.ts"

/** A log for servers of this machine, which fails for every external call. */
export const nothingLeaves: ExternalCallLog = {
  began: (method, url) => {
    throw new Error(`${method} ${url} is reported as an external call`)
  },
}

/** A log that ignores calls, for tests that are about something else. */
export const unheard: ExternalCallLog = { began: () => () => undefined }
