import { defineCommand } from "../../definition.ts"
import { shortId } from "../../render/format.ts"
import { agentStateOf } from "../../run/agent-session.ts"
import { sessionArguments, sessionIdOf } from "../../session-id.ts"

export const cancel = defineCommand({
  name: "cancel",
  summary: "end a session for good",
  description: "What it did stays; `acode session undo` puts it back.",
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
        : `told the process that works on ${shortId(id)}; it ends when it has finished what it is doing`,
    )
    return 0
  },
})

export const pause = defineCommand({
  name: "pause",
  summary: "let a running session come to rest",
  description: "The process that works on it finishes what it is doing, then rests. `acode resume` goes on.",
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
    output.line(
      `told the process that works on ${shortId(id)}; it rests when it has finished what it is doing`,
    )
    return 0
  },
})
