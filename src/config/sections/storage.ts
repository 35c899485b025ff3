import { z } from "zod"
import { defaultConfig } from "../defaults.ts"

const storageDefaults = defaultConfig.storage

/** The `storage:` section: how much acode keeps for a workspace, and for how long. */
export function storageSection() {
  return z
    .strictObject({
      max_total_mb: z
        .number()
        .int()
        .min(1)
        .max(16 * 1024 * 1024)
        .default(storageDefaults.max_total_mb)
        .describe(
          "How much everything that acode keeps for a workspace may take. Above it the oldest copies for undo and the oldest quarantined files are removed when a session ends; copies of what undo, recovery or a restore replaced are not.",
        ),
      quarantine_days: z
        .number()
        .int()
        .min(1)
        .max(3650)
        .default(storageDefaults.quarantine_days)
        .describe(
          "How long files are kept that a command made under protected names, which were moved to quarantine.",
        ),
    })
    .prefault({})
    .describe("Limits of everything that is kept; `acode storage show` says what takes how much.")
}

const defaults = defaultConfig.checkpoints

/** The `checkpoints:` section: how much of the past is kept so that a session can be undone. */
export function checkpointsSection() {
  return z
    .strictObject({
      max_file_mb: z
        .number()
        .int()
        .min(1)
        .max(65_536)
        .default(defaults.max_file_mb)
        .describe(
          "The largest file that is read and copied; `session undo` puts back all files but larger ones.",
        ),
      max_total_mb: z
        .number()
        .int()
        .min(1)
        .max(1024 * 1024)
        .default(defaults.max_total_mb)
        .describe(
          "How much all checkpoints of a workspace may take together; the largest files are left out first.",
        ),
      max_ignored_entries: z
        .number()
        .int()
        .min(0)
        .max(10_000_000)
        .default(defaults.max_ignored_entries)
        .describe(
          "How many files and directories that git ignores are watched while a command runs; of what is beyond, nobody " +
            "can say whether it changed.",
        ),
      undo_days: z
        .number()
        .int()
        .min(1)
        .max(3650)
        .default(defaults.undo_days)
        .describe(
          "How long a session can be undone; older checkpoints are removed, and those of what undo, recovery or a restore replaced are named when they go.",
        ),
    })
    .prefault({})
    .describe("Copies of files from before they were changed, which `session undo` puts back.")
}
