import { counted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { defineCommand } from "./definition.ts"
import { bytesText } from "./format.ts"
import { ageFlag, reportDistrust, trustClockFlag } from "./trust-clock.ts"

export const runsPrune = defineCommand({
  name: "runs prune",
  summary: "remove old executions; a signed tombstone stays, so the history still verifies",
  arguments: [],
  flags: {
    "older-than": ageFlag,
    "trust-clock": trustClockFlag,
    "run-id": { kind: "id", of: "run", value: "ID", summary: "the executions of one invocation of acode" },
  },
  examples: [
    { line: "acode runs prune --older-than 30d", note: "keep the last month" },
    { line: "acode runs prune", note: "as execution.audit.retention_days says" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const age = flags["older-than"]
    const typedRun = flags["run-id"]
    if (age !== undefined && typedRun !== undefined)
      throw new Failure({
        kind: "usage",
        code: "ACODE-CLI-002",
        message: "--older-than and --run-id do not go together",
        where: "acode runs prune",
        hint: "give one of them",
      })
    const pruned = await app.pruneRuns(
      typedRun === undefined
        ? { olderThanMs: age ?? (await app.retentionMs()), trustsClock: flags["trust-clock"] }
        : { runId: await app.idOf(typedRun, "run") },
    )
    const { ids, freedBytes } = pruned
    if (globals.json) output.json({ pruned: ids.map(id => ({ id })), freedBytes })
    if (typedRun === undefined) reportDistrust(output, pruned)
    output.line(`${counted(ids.length, "execution")} removed, ${bytesText(freedBytes)} freed`)
    return 0
  },
})
