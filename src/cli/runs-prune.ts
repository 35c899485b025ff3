import { toIso } from "../base/clock.ts"
import { Failure } from "../domain/failure.ts"
import { defineCommand } from "./definition.ts"

export const runsPrune = defineCommand({
  name: "runs prune",
  summary: "remove old executions; a signed tombstone stays, so the history still verifies",
  arguments: [],
  flags: {
    "older-than": {
      kind: "duration",
      value: "AGE",
      summary: "such as 30d; without it the configured retention",
      minMs: 0,
      maxMs: 36_525 * 86_400_000,
    },
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
    const pruned = await app.prune(
      typedRun === undefined
        ? { until: toIso(app.now() - (age ?? (await app.retentionMs()))) }
        : { runId: await app.idOf(typedRun, "run") },
    )
    if (globals.json) output.json({ pruned: pruned.map(id => ({ id })) })
    output.line(`${pruned.length} executions removed`)
    return 0
  },
})
