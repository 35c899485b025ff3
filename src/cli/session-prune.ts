import { counted, oneLine } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import { limitFlag } from "./flags.ts"
import { bytesText, shortId } from "./format.ts"
import { ageFlag, reportDistrust, trustClockFlag } from "./trust-clock.ts"

export const sessionPrune = defineCommand({
  name: "session prune",
  summary: "remove old sessions; a signed tombstone stays, so the history still verifies",
  description:
    "A session is as old as its last event. One that runs is never removed; one that waits for an answer or can still\n" +
    "be undone only with --force, and cannot be undone afterwards.",
  arguments: [],
  flags: {
    "older-than": ageFlag,
    keep: limitFlag("keep the N newest, however old they are"),
    "dry-run": { kind: "boolean", summary: "only show what would be removed" },
    force: { kind: "boolean", summary: "also sessions that wait for an answer or can still be undone" },
    "trust-clock": trustClockFlag,
  },
  examples: [
    { line: "acode session prune --older-than 30d --dry-run", note: "look first" },
    { line: "acode session prune --older-than 30d --keep 10", note: "keep the last month, and ten at least" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const pruned = await app.pruneSessions({
      olderThanMs: flags["older-than"] ?? (await app.retentionMs()),
      trustsClock: flags["trust-clock"],
      keep: flags.keep ?? 0,
      isForced: flags.force,
      isDryRun: flags["dry-run"],
    })
    const { removed, left, freedBytes } = pruned
    if (globals.json) output.json({ removed, left, freedBytes, isDryRun: flags["dry-run"] })
    reportDistrust(output, pruned)
    const did = flags["dry-run"] ? "would remove" : "removed"
    for (const { id, startedAt, goal, wasUndoable } of removed)
      output.line(
        `${did} ${shortId(id)}  ${startedAt.slice(0, 19)}Z  ${oneLine(goal, 80)}${wasUndoable ? " (can still be undone)" : ""}`,
      )
    for (const { id, reason } of left) output.line(`kept ${shortId(id)}: ${reason}`)
    output.line(
      flags["dry-run"]
        ? `${counted(removed.length, "session")} would be removed`
        : `${counted(removed.length, "session")} removed, ${bytesText(freedBytes)} freed`,
    )
    return 0
  },
})
