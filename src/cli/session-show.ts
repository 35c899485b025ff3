import { defineCommand } from "./definition.ts"
import { sessionArguments, sessionIdOf } from "./session-id.ts"
import { sessionLines } from "./session-text.ts"

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
    if (globals.json) output.json(view)
    for (const line of sessionLines(view)) output.line(line)
    return 0
  },
})
