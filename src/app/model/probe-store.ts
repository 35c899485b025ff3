import { join } from "node:path"
import type { ModelProbe } from "../../provider/ladder/contract.ts"
import { decodeProbe, encodeProbe } from "../../provider/ladder/probe-cache.ts"
import { dropKept, keep, readKept } from "../kept-file.ts"

/** What was found out about models, so that each is tried out once. Losing it costs a few requests and nothing else. */
export interface ProbeStore {
  read(key: string): ModelProbe | null
  write(key: string, probe: ModelProbe): void
  forget(key: string): void
}

export function probeStore(cacheHome: string): ProbeStore {
  const placeOf = (key: string) => join(cacheHome, "acode", "models", `${key}.json`)
  return {
    read: key => {
      const text = readKept(placeOf(key))
      return text === null ? null : decodeProbe(key, text)
    },
    write: (key, probe) => keep(placeOf(key), encodeProbe(key, probe)),
    forget: key => dropKept(placeOf(key)),
  }
}
