import { probeKey } from "../../provider/ladder/probe-cache.ts"
import type { ModelServer } from "../../provider/server.ts"
import { version } from "../../version.ts"
import type { Config } from "../config-schema.ts"
import type { AppEnvironment } from "../environment.ts"
import { lookLimits } from "./limits.ts"
import { probeStore } from "./probe-store.ts"

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
