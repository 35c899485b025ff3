import { oneLine } from "../base/text.ts"
import type { SessionSummary } from "../store/session/contract.ts"
import { defineCommand } from "./definition.ts"
import { limitFlag } from "./flags.ts"
import { shortId } from "./format.ts"

export const sessionList = defineCommand({
  name: "session list",
  summary: "sessions of this workspace, newest first",
  arguments: [],
  flags: { limit: limitFlag("at most N of them (50)") },
  examples: [
    { line: "acode session list", note: "plan runs are sessions too" },
    { line: "acode session list --json", note: "for a script" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const listed = (await app.sessions())?.list({ limit: flags.limit ?? 50, isChecked: true }) ?? []
    const found = await Promise.all(listed.map(async each => ({ ...each, ...(await app.stepCounts(each)) })))
    if (globals.json) output.json(found)
    for (const session of found) output.line(row(session))
    if (found.length === 0)
      output.notice(["no sessions", (await app.formerHistory()) ?? []].flat().join("; "))
    return 0
  },
})

function row(session: SessionSummary): string {
  const { id, startedAt, state, exitCode, stepsDone, stepCount, goal } = session
  const { undoneAt, partlyUndoneAt } = session
  const mark = exitCode === null ? "…" : exitCode === 0 ? "✓" : exitCode === 41 ? "⚠" : "✗"
  const exit = exitCode === null ? "" : `exit ${exitCode}`
  const undone = undoneAt !== null ? " (undone)" : partlyUndoneAt !== null ? " (partly undone)" : ""
  return (
    `${mark} ${shortId(id)}  ${startedAt.slice(0, 19)}Z  ${state.padEnd(9)} ${exit.padEnd(8)}` +
    ` ${`${stepsDone}/${stepCount}`.padStart(7)}  ${oneLine(goal, 80)}${undone}`
  )
}
