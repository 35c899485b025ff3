import { plainSettings } from "../../../domain/pipeline-settings.ts"
import { defineCommand } from "../../definition.ts"
import type { FlagSpecs } from "../../parse/flags.ts"
import { sessionFlags, settingsChange } from "../../run/flags.ts"

const runFlags = {
  ...sessionFlags,
  continue: {
    kind: "boolean",
    summary: "add the goal as a request to the latest session, which may be finished",
  },
  "require-all-stages": { kind: "boolean", summary: "always on: no stage can be left out" },
  "verify-before-commit": {
    kind: "boolean",
    summary: "always on: a session is done only when its changes are verified",
  },
} as const satisfies FlagSpecs

export const run = pipelineCommand(
  "run",
  "work on a goal: plan it, carry it out, check and review the result",
  {},
)

export const task = pipelineCommand("task", "the same as run", {
  "multi-stage": { kind: "boolean", summary: "always on" },
})

function pipelineCommand(name: "run" | "task", summary: string, more: FlagSpecs) {
  return defineCommand({
    name,
    summary,
    description:
      "Shows the plan and asks once; --yes=plan accepts it unseen. A session that needs you pauses and says why;\n" +
      "`acode resume` continues it. Ctrl-C pauses after the current request or command, a second one stops that at once;\n" +
      "at a question Ctrl-C denies and ends the session permanently, as `x` does.\n" +
      "With --json every event is one line, from session.started to session.finished or session.rested; the last one\n" +
      "has `changes`, the lines the session added and removed.",
    arguments: [{ name: "GOAL", summary: "the task, in quotes" }],
    flags: { ...runFlags, ...more },
    examples: [
      { line: `acode ${name} "add a --json flag to the report"`, note: "asks about the plan, then works" },
      { line: `acode ${name} "fix the failing test" --yes=plan,file_write --json`, note: "for a script" },
      { line: `acode ${name} "tidy up" --plan-only`, note: "only a plan; `acode resume` executes it" },
    ],
    run: async ({ arguments: [goal = ""], flags }, context) => {
      const change = settingsChange(flags, context.globals.yes)
      // Loaded only here: it imports the events and their rendering.
      const { checkSkipVerify, driveHere } = await import("../../run/driving.ts")
      checkSkipVerify(context, flags)
      const { toPipelineLimits } = await import("../../../config/settings.ts")
      const service = await context.service()
      if (flags.continue) {
        const { continueLatest } = await import("../../run/agent-session.ts")
        return driveHere(context, await continueLatest(service, { goal, flags, change, context }))
      }
      const { values } = await service.config()
      const { usualMode } = await import("../../../models/mode.ts")
      const mode = usualMode(values.mode)
      const settings = change({ ...plainSettings, mode, limits: toPipelineLimits(values) })
      return driveHere(context, {
        flags,
        yes: settings.yes,
        seen: [],
        prices: values.model.prices,
        begin: surface => service.run(goal, settings, surface),
      })
    },
  })
}
