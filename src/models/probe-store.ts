import { join } from "node:path"
import type { AppEnvironment } from "../config/environment.ts"
import { dropKept, keep, readKept } from "../config/kept-file.ts"
import type { Config } from "../config/schema.ts"
import type { ModelProbe } from "../provider/ladder/contract.ts"
import { decodeProbe, encodeProbe, probeKey } from "../provider/ladder/probe.ts"
import type { ModelServer } from "../provider/server.ts"
import { version } from "../version.ts"
import { lookLimits } from "./settings.ts"

/** What was found out about models, so that each is tried out once. Losing it costs a few requests and nothing else. */
interface ProbeStore {
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

interface ProbePlace {
  readonly config: Config
  readonly environment: AppEnvironment
}

/**
 * Forgets what was found out about a model, so that whoever chooses it next tries it out again: a server that was
 * started otherwise can do other things under the same name. Never throws.
 */
export async function forgetProbe(
  { config, environment }: ProbePlace,
  server: ModelServer,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { value: facts } = await server.facts(name, lookLimits(config), signal)
  if (facts === undefined) return
  probeStore(environment.xdgCacheHome).forget(probeKey(server.endpoint, name, facts, version))
}
