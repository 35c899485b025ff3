import { z } from "zod"
import { defaultConfig } from "./config-defaults.ts"

const defaults = defaultConfig.storage

/** The `storage:` section: how much acode keeps for a workspace, and for how long. */
export function storageSection() {
  return z
    .strictObject({
      max_total_mb: z
        .number()
        .int()
        .min(1)
        .max(16 * 1024 * 1024)
        .default(defaults.max_total_mb)
        .describe(
          "How much everything that acode keeps for a workspace may take. Above it the oldest copies for undo and the oldest quarantined files are removed when a session ends; copies of what undo, recovery or a restore replaced are not.",
        ),
      quarantine_days: z
        .number()
        .int()
        .min(1)
        .max(3650)
        .default(defaults.quarantine_days)
        .describe(
          "How long files are kept that a command made under protected names, which were moved to quarantine.",
        ),
    })
    .prefault({})
    .describe("Limits of everything that is kept; `acode storage show` says what takes how much.")
}
