import { toIso } from "../base/clock.ts"
import { Failure } from "../domain/failure.ts"
import { defineCommand } from "./definition.ts"
import { durationOf } from "./instant.ts"

export const runsPrune = defineCommand({
  name: "runs prune",
  summary: "remove old executions; a signed tombstone stays, so the history still verifies",
  arguments: [],
  flags: {
    "older-than": { kind: "text", value: "AGE", summary: "such as 30d; without it the configured retention" },
    "run-id": { kind: "text", value: "ID", summary: "the executions of one invocation of acode" },
  },
  examples: [
    { line: "acode runs prune --older-than 30d", note: "keep the last month" },
    { line: "acode runs prune", note: "as execution.audit.retention_days says" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const age = flags["older-than"]
    const runId = flags["run-id"]
    if (age !== undefined && runId !== undefined)
      throw new Failure({
        kind: "usage",
        code: "ACODE-CLI-002",
        message: "--older-than and --run-id do not go together",
        where: "acode runs prune",
        hint: "give one of them",
      })
    const pruned =
      runId !== undefined ? await app.prune({ runId }) : await app.prune({ until: await before(age, app) })
    if (globals.json) output.json({ pruned: pruned.map(id => ({ id })) })
    output.line(`${pruned.length} executions removed`)
    return 0
  },
})

async function before(
  age: string | undefined,
  app: { now(): number; retentionMs(): Promise<number> },
): Promise<string> {
  return toIso(app.now() - (age === undefined ? await app.retentionMs() : durationOf(age)))
}
