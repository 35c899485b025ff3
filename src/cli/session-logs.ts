import { oneLine } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import { eventLine } from "./event-line.ts"
import { limitFlag } from "./flags.ts"
import { sessionArguments, sessionIdOf } from "./session-id.ts"

export const sessionLogs = defineCommand({
  name: "session logs",
  summary: "the events of a session, oldest first",
  description: "With --json one object a line: schema, seq, at, session, type, trace, data.",
  arguments: sessionArguments.arguments,
  flags: {
    ...sessionArguments.flags,
    filter: {
      kind: "text",
      value: "TYPES",
      summary: "only these, such as 'step.finished|stage_transition'",
    },
    tail: limitFlag("only the last N of them"),
  },
  examples: [
    { line: "acode session logs --tail 20", note: "the end of the latest session" },
    { line: "acode session logs 3f2a91bc --filter 'tool_call.settled' --json", note: "for a script" },
  ],
  run: async (input, { service, output, globals }) => {
    const { flags } = input
    // Loaded when it is asked for: it brings the schemas of the events along.
    const { eventFilter } = await import("./event-filter.ts")
    const isWanted = eventFilter(flags.filter)
    const app = await service()
    const id = await sessionIdOf(app, input)
    // The last 0 are all: slice(-0) takes the whole.
    const events = (await app.sessionEvents(id)).filter(isWanted).slice(-(flags.tail ?? 0))
    for (const event of events) {
      if (globals.json) output.jsonLine(eventLine(id, event))
      output.line(`${event.at}  ${event.type.padEnd(20)}  ${oneLine(JSON.stringify(event.data), 160)}`)
    }
    if (events.length === 0) output.notice("nothing found")
    return 0
  },
})
