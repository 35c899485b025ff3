import { exitCodes } from "../../../domain/exit-codes.ts"
import { defineCommand } from "../../definition.ts"
import { sessionArguments, sessionIdOf } from "../../session-id.ts"

export const status = defineCommand({
  name: "status",
  summary: "show the state of a session, what it waits for, and the next command",
  ...sessionArguments,
  examples: [
    { line: "acode status", note: "the latest session" },
    { line: "acode status 3f2a91bc --json", note: "for a script" },
  ],
  run: async (input, { service, output, globals }) => {
    // Loaded only here: it imports the schemas of the events.
    const { statusLines, statusOf } = await import("./status-view.ts")
    const { sessionView } = await import("../../../domain/session/session-view.ts")
    const app = await service()
    const id = await sessionIdOf(app, input)
    const found = (await app.sessions())?.find(id)
    // Cannot happen: the id was found in this history.
    if (found == null) return exitCodes.usage.code
    const asked = (await app.approvals())?.ofSession(id) ?? []
    const view = statusOf(found, await app.agentState(id), {
      isDriven: await app.isDriven(id),
      hasChanges:
        found.undoneAt === null && sessionView(id, await app.sessionEvents(id)).calls.some(hasChanged),
      openApprovals: asked.filter(({ state }) => state === "open"),
      lastAsked: asked[0] ?? null,
    })
    if (globals.json) output.json(view)
    for (const line of statusLines(view)) output.line(output.advice(line))
    return 0
  },
})

function hasChanged({ changeCount }: { readonly changeCount: number }): boolean {
  return changeCount > 0
}
