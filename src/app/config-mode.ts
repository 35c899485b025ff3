import { z } from "zod"
import { defaultConfig } from "./config-defaults.ts"

const defaults = defaultConfig.mode

/** The `mode:` section: where models may be. That something leaves this machine is never said here. */
export function modeSection() {
  return z
    .strictObject({
      default: z
        .enum(["local-only", "airgapped"])
        .default(defaults.default)
        .describe(
          "Where models may be: on this machine, or only at the one endpoint that is configured. `burst` is said for each session.",
        ),
      allow_burst: z
        .boolean()
        .default(defaults.allow_burst)
        .describe("Whether a person may let a session use a server elsewhere, with --mode burst."),
      airgapped_lock: z
        .boolean()
        .default(defaults.airgapped_lock)
        .describe("Every session is airgapped, whatever the command line says."),
    })
    .prefault({})
    .describe("Where models may be.")
}
