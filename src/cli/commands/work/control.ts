import { defineCommand } from "../../definition.ts"
import { shortId } from "../../render/format.ts"
import { agentStateOf } from "../../run/agent-session.ts"
import { sessionArguments, sessionIdOf } from "../../session-id.ts"

export const cancel = defineCommand({
  name: "cancel",
  summary: "end a session permanently",
  description: "Its changes stay; `acode session undo` reverts them.",
  ...sessionArguments,
  flags: {
    ...sessionArguments.flags,
    reason: { kind: "text", value: "TEXT", summary: "why, for the record" },
  },
  examples: [{ line: 'acode cancel 3f2a91bc --reason "another way is better"', note: "from any terminal" }],
  run: async (input, { service, output, globals }) => {
    const app = await service()
    const id = await sessionIdOf(app, input)
    await agentStateOf(app, id)
    const outcome = await app.control(id, "cancel", input.flags.reason ?? "no reason given")
    if (globals.json) output.json({ id, control: "cancel", outcome })
    output.line(
      outcome === "done"
        ? `cancelled ${shortId(id)}`
        : `cancelling ${shortId(id)}: its process ends it after the current request or command`,
    )
    return 0
  },
})

export const pause = defineCommand({
  name: "pause",
  summary: "pause a running session",
  description: "Its process finishes the current request or command, then pauses. `acode resume` continues.",
  ...sessionArguments,
  flags: {
    ...sessionArguments.flags,
    reason: { kind: "text", value: "TEXT", summary: "why, for the record" },
  },
  examples: [{ line: "acode pause", note: "the latest session" }],
  run: async (input, { service, output, globals }) => {
    const app = await service()
    const id = await sessionIdOf(app, input)
    await agentStateOf(app, id)
    const outcome = await app.control(id, "pause", input.flags.reason ?? "no reason given")
    if (globals.json) output.json({ id, control: "pause", outcome })
    output.line(`pausing ${shortId(id)}: its process pauses it after the current request or command`)
    return 0
  },
})
