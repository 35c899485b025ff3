import { counted, oneLine } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import { shortId } from "./format.ts"
import { sessionArguments, sessionIdOf } from "./session-id.ts"

export const sessionValidate = defineCommand({
  name: "session validate",
  summary: "whether a session kept every rule, and nobody has changed its record",
  description:
    "Events without a gap, only moves that exist, limits kept, done only after all four stages, and chain and\n" +
    "signatures whole. Exits 65 and names every event that breaks a rule.",
  ...sessionArguments,
  examples: [{ line: "acode session validate 3f2a91bc", note: "exit 0 when it did" }],
  run: async (input, { service, output, globals }) => {
    const app = await service()
    const id = await sessionIdOf(app, input)
    const broken = await app.sessionProblems(id)
    const audit = await app.audit(id)
    const altered = audit.problems.map(({ seq, what }) => ({ seq, what }))
    const problems = [...broken, ...altered]
    const ok = problems.length === 0 && audit.ok
    if (globals.json) output.json({ id, ok, events: audit.events, problems })
    for (const { seq, what } of problems)
      output.line(`${output.red("✗")} ${seq === null ? "record" : `event ${seq}`}: ${oneLine(what, 500)}`)
    output.line(
      ok
        ? `${output.green("✓")} session ${shortId(id)} is valid: ${counted(audit.events, "event")}`
        : `session ${shortId(id)} is not valid: ${counted(problems.length, "problem")}`,
    )
    return ok ? 0 : 65
  },
})
