import { plainSettings } from "../../../domain/pipeline-settings.ts"
import { defineCommand } from "../../definition.ts"
import { askFlags, settingsChange, unsaid } from "../../run/flags.ts"

export const askQuestion = defineCommand({
  name: "ask",
  summary: "answer a question about the project, changing nothing",
  description:
    "Works like a run that may only read: a plan that would change something is refused. Nothing has to be approved,\n" +
    "verified or reviewed; the answer is the result, printed, in `acode session show`, and in the last line of --json.\n" +
    "It is the model's own, and acode marks it as not verified.",
  arguments: [{ name: "QUESTION", summary: "the question, in quotes" }],
  flags: askFlags,
  examples: [
    { line: 'acode ask "where are dates parsed?"', note: "prints the answer, exit 0" },
    { line: 'acode ask "what does --dry-run do?" --json', note: "session.finished has `answer`" },
  ],
  run: async ({ arguments: [question = ""], flags }, context) => {
    const given = { ...unsaid, ...flags }
    const change = settingsChange(given, context.globals.yes)
    // Loaded only here: it imports the events and their rendering.
    const { driveHere } = await import("../../run/driving.ts")
    const { toPipelineLimits } = await import("../../../config/settings.ts")
    const service = await context.service()
    const { values } = await service.config()
    const { usualMode } = await import("../../../models/mode.ts")
    const mode = usualMode(values.mode)
    const plain = { ...plainSettings, mode, asksOnly: true as const, limits: toPipelineLimits(values) }
    const settings = change(plain)
    return driveHere(context, {
      flags: given,
      yes: settings.yes,
      seen: [],
      prices: values.model.prices,
      begin: surface => service.run(question, settings, surface),
    })
  },
})
