import type { AppService } from "../../../app/service.ts"
import { firstLine, oneLine } from "../../../base/text.ts"
import { exitCodes } from "../../../domain/exit-codes.ts"
import { Failure } from "../../../domain/failure.ts"
import { repliesFlag } from "../../../models/recorded.ts"
import type { SessionSummary } from "../../../store/session/contract.ts"
import { type CliInput, defineCommand } from "../../definition.ts"
import { shortId } from "../../render/format.ts"
import { aboutSession } from "../../render/next-commands.ts"
import { agentStateOf } from "../../run/agent-session.ts"
import { sessionFlags, settingsChange } from "../../run/flags.ts"
import { sessionArguments, sessionIdOf } from "../../session-id.ts"

export const resume = defineCommand({
  name: "resume",
  summary: "continue a session that was paused or interrupted",
  description:
    "With more text it adds a request to a resting or finished session, which plans it anew, knowing the earlier requests.\n" +
    "Limits, model, mode and approvals stay as they were recorded unless a flag changes them; --mode local-only revokes\n" +
    "the consent of a burst session. Without an id it resumes the latest session, and refuses one that has ended or was\n" +
    "undone.\n" +
    "If acode was killed while a command ran, files that changed meanwhile may be your work: they are left alone and\n" +
    "listed, and the exit code is 60. Another resume continues with the present files, --redo-command runs the command\n" +
    "again. Files of replies are not recorded: give --script or --replay again.",
  arguments: [
    ...sessionArguments.arguments,
    {
      name: "MORE",
      summary: "another request for the session, in quotes, also for a finished one",
      optional: true,
    },
  ],
  flags: {
    ...sessionArguments.flags,
    ...sessionFlags,
    "skip-failed-step": { kind: "boolean", summary: "continue without the steps that failed" },
    "redo-command": {
      kind: "boolean",
      summary: "restore what changed while an interrupted command ran, and run it again",
    },
  },
  examples: [
    { line: "acode resume", note: "the latest session" },
    { line: "acode resume 3f2a91bc --executor-timeout 900", note: "with more time" },
    { line: "acode resume --skip-failed-step --json", note: "the first line is session.resumed" },
    { line: 'acode resume 3f2a91bc "now add a test for it"', note: "the planner sees what was done" },
  ],
  run: async (input, context) => {
    const { flags } = input
    const change = settingsChange(flags, context.globals.yes)
    // Loaded only here: it imports the events and their rendering.
    const { checkSkipVerify, driveHere } = await import("../../run/driving.ts")
    checkSkipVerify(context, flags)
    const service = await context.service()
    const id = await resumableId(service, input)
    const { settings } = await agentStateOf(service, id)
    // JSON output does not depend on earlier events.
    const seen = context.globals.json ? [] : await service.sessionEvents(id)
    const said = { model: flags.model !== undefined, mode: flags.mode !== undefined }
    const [, adds] = input.arguments
    const request = {
      ...(adds === undefined ? {} : { adds }),
      change,
      skipsFailed: flags["skip-failed-step"],
      redoesCommand: flags["redo-command"],
      said,
    }
    const { values } = await service.config()
    return driveHere(context, {
      flags,
      seen,
      yes: change(settings).yes,
      prices: values.model.prices,
      begin: surface => service.resume(id, request, surface),
    })
  },
})

/** Returns the named session, else the latest one: older sessions may have been replaced by it, or be undone. */
async function resumableId(
  service: AppService,
  input: CliInput<typeof sessionArguments.flags>,
): Promise<string> {
  if (input.arguments.length > 0 || input.flags["session-id"] !== undefined)
    return sessionIdOf(service, input)
  const history = await service.sessions()
  const latest = history?.latest() ?? null
  const why = latest === null ? null : whyNotResumed(latest)
  if (latest !== null && why === null) return latest.id
  if (latest === null)
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-004",
      message: "there is no session to resume in this workspace",
      hint:
        (await service.formerHistory()) ?? '`acode run "GOAL"` starts one; `acode session list` shows all',
    })
  throw new Failure({
    kind: "usage",
    code: "ACODE-ORCH-006",
    message: `the latest session ${why}`,
    where: latest.id,
    hint: await otherHint(service, latest, history?.list({ lane: "agent", limit: 1000 }) ?? []),
  })
}

async function otherHint(
  service: AppService,
  latest: SessionSummary,
  sessions: readonly SessionSummary[],
): Promise<string> {
  const short = shortId(latest.id)
  if (latest.lane === "agent" && latest.endedAt === null)
    return `${await resumeCommand(service, latest.id)} resumes it nevertheless`
  if (latest.lane === "plan" && isUndecided(latest))
    return (
      `\`acode session show ${short}\` shows what it did; \`acode session undo ${short}\` restores what acode itself ` +
      "wrote, with --commands also what changed while a command ran"
    )
  const resting = sessions.find(each => whyNotResumed(each) === null)
  return resting === undefined
    ? `no other session waits; \`acode session show ${short}\` shows what it did`
    : `${await resumeCommand(service, resting.id)} resumes an earlier one: ${oneLine(resting.goal, 60)}`
}

async function resumeCommand(service: AppService, id: string): Promise<string> {
  const state = await service.agentState(id)
  return aboutSession("`acode resume`", id, state === null ? null : repliesFlag(state.settings.selection))
}

/** Returns whether a session ended with changes that a person has to decide about. */
function isUndecided({ exitCode, undoneAt }: SessionSummary): boolean {
  return exitCode === exitCodes.undecided.code && undoneAt === null
}

/** Returns why a session cannot be resumed, as text after "the latest session"; null when it can. */
function whyNotResumed(session: SessionSummary): string | null {
  const { lane, state, reason, endedAt, undoneAt, partlyUndoneAt } = session
  if (lane === "skill")
    return endedAt === null
      ? "executes tasks, and the next `acode agent run --pending` finishes what its process left"
      : "executed tasks and has ended"
  if (lane !== "agent")
    return `is a plan run, which is never resumed${isUndecided(session) ? `: ${firstLine(reason ?? "", 2000)}` : ""}`
  if (endedAt !== null) return `has ended (${state}): ${firstLine(reason ?? "", 200)}`
  if (partlyUndoneAt !== null) return `was undone in part at ${partlyUndoneAt}`
  return undoneAt === null ? null : `was undone at ${undoneAt}`
}
