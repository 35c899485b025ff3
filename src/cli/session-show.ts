import { wholeUsage } from "../domain/pipeline/token-usage.ts"
import { defineCommand } from "./definition.ts"
import { sessionArguments, sessionIdOf } from "./session-id.ts"
import { sessionLines } from "./session-text.ts"
import { costOf } from "./usage-text.ts"

export const sessionShow = defineCommand({
  name: "session show",
  summary: "one session: how it ended, what each step did, who was asked",
  ...sessionArguments,
  examples: [
    { line: "acode session show", note: "the latest one" },
    { line: "acode session show 3f2a91bc --json", note: "for a script" },
  ],
  run: async (input, { service, output, globals }) => {
    // Loaded when it is asked for: it brings the schemas of the events along.
    const { sessionView } = await import("../domain/session-view.ts")
    const app = await service()
    const id = await sessionIdOf(app, input)
    const view = sessionView(id, await app.sessionEvents(id))
    const { prices } = (await app.config()).values.model
    const usage = view.pipeline === null ? null : wholeUsage(view.pipeline.usage)
    const tokens = usage === null ? null : { ...usage, cost: costOf(usage, prices) }
    const changes = await app.diffStat(id)
    const kept = await app.keptCopies(id)
    if (globals.json) output.json({ ...view, tokens, changes, kept })
    for (const line of sessionLines(view, prices, changes, kept)) output.line(output.advice(line))
    return 0
  },
})
