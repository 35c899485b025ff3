import { z } from "zod"
import { defaultConfig } from "../defaults.ts"

const storageDefaults = defaultConfig.storage

/** Returns the `storage:` section: how much state acode keeps for a workspace, and for how long. */
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
          "Size in MB of all state of a workspace. Above it, the oldest copies for undo and the oldest quarantined files are removed when a session ends; copies of files that undo, recovery or a restore replaced are not.",
        ),
      quarantine_days: z
        .number()
        .int()
        .min(1)
        .max(3650)
        .default(storageDefaults.quarantine_days)
        .describe(
          "Days that quarantined files are kept: files that a command created under protected names.",
        ),
    })
    .prefault({})
    .describe("Limits of the state that acode stores; `acode storage show` prints its size.")
}

const defaults = defaultConfig.checkpoints

/** Returns the `checkpoints:` section: how many copies of files are kept for undo. */
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
          "Size in MB of the largest file that is copied before it is changed; `session undo` cannot restore larger ones.",
        ),
      max_total_mb: z
        .number()
        .int()
        .min(1)
        .max(1024 * 1024)
        .default(defaults.max_total_mb)
        .describe(
          "Size in MB of all checkpoints of a workspace together; the largest files are left out first.",
        ),
      max_ignored_entries: z
        .number()
        .int()
        .min(0)
        .max(10_000_000)
        .default(defaults.max_ignored_entries)
        .describe(
          "Maximum number of git-ignored files and directories that are watched while a command runs; changes to " +
            "further ones are not noticed.",
        ),
      undo_days: z
        .number()
        .int()
        .min(1)
        .max(3650)
        .default(defaults.undo_days)
        .describe(
          "Days that a session can be undone. Older checkpoints are removed; a removed checkpoint of files that undo, recovery or a restore replaced is named.",
        ),
    })
    .prefault({})
    .describe("Copies of files from before a change, which `session undo` restores.")
}
