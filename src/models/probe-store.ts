import { join } from "node:path"
import type { AppEnvironment } from "../config/environment.ts"
import { dropKept, keep, readKept } from "../config/kept-file.ts"
import type { Config } from "../config/schema.ts"
import type { ModelProbe } from "../provider/ladder/contract.ts"
import { decodeProbe, encodeProbe, probeKey } from "../provider/ladder/probe.ts"
import type { ModelServer } from "../provider/server.ts"
import { version } from "../version.ts"
import { queryLimits } from "./settings.ts"

/** Cached probes of models, so that each is probed once. Losing the cache only costs a few requests. */
interface ProbeStore {
  read(key: string): ModelProbe | null
  write(key: string, probe: ModelProbe): void
  forget(key: string): void
}

export function probeStore(cacheHome: string): ProbeStore {
  const pathOf = (key: string) => join(cacheHome, "acode", "models", `${key}.json`)
  return {
    read: key => {
      const text = readKept(pathOf(key))
      return text === null ? null : decodeProbe(key, text)
    },
    write: (key, probe) => keep(pathOf(key), encodeProbe(key, probe)),
    forget: key => dropKept(pathOf(key)),
  }
}

interface ProbeContext {
  readonly config: Config
  readonly environment: AppEnvironment
}

/**
 * Forgets the probe of a model, so that it is probed again when it is next chosen: a server that was started with other
 * options can have other abilities under the same name. Never throws.
 */
export async function forgetProbe(
  { config, environment }: ProbeContext,
  server: ModelServer,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { value: facts } = await server.facts(name, queryLimits(config), signal)
  if (facts === undefined) return
  probeStore(environment.xdgCacheHome).forget(probeKey(server.endpoint, name, facts, version))
}
