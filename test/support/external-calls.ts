import type { ExternalCallLog } from "../../src/provider/transport/contract.ts"

/** For servers of this machine: a transport that tells of a call there is wrong. */
export const nothingLeaves: ExternalCallLog = {
  began: (method, url) => {
    throw new Error(`${method} ${url} is told as an external call`)
  },
}

/** For tests that are about something else. */
export const unheard: ExternalCallLog = { began: () => () => undefined }
