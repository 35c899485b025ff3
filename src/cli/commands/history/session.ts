import { counted, oneLine } from "../../../base/text.ts"
import { exitCodes } from "../../../domain/exit-codes.ts"
import { wholeUsage } from "../../../domain/pipeline/token-usage.ts"
import type { SessionSummary } from "../../../store/session/contract.ts"
import { defineCommand } from "../../definition.ts"
import { ageFlag, limitFlag, reportDistrust, trustClockFlag } from "../../parse/flags.ts"
import { bytesText, eventLine, shortId } from "../../render/format.ts"
import { sessionLines } from "../../render/session-text.ts"
import { costOf } from "../../render/usage-text.ts"
import { sessionArguments, sessionIdOf } from "../../session-id.ts"

export const sessionList = defineCommand({
  name: "session list",
  summary: "list the sessions of this workspace, newest first",
  arguments: [],
  flags: { limit: limitFlag("at most N of them (50)") },
  examples: [
    { line: "acode session list", note: "plan runs are sessions too" },
    { line: "acode session list --json", note: "for a script" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const listed = (await app.listed())?.sessions.list({ limit: flags.limit ?? 50, isChecked: true }) ?? []
    const found = await Promise.all(listed.map(async each => ({ ...each, ...(await app.stepCounts(each)) })))
    if (globals.json) output.json(found)
    for (const session of found) output.line(row(session))
    if (found.length === 0)
      output.notice(["no sessions", (await app.formerHistory()) ?? []].flat().join("; "))
    return 0
  },
})

function row(session: SessionSummary): string {
  const { id, startedAt, state, exitCode, stepsDone, stepCount, goal } = session
  const { undoneAt, partlyUndoneAt } = session
  const mark =
    exitCode === null ? "…" : exitCode === 0 ? "✓" : exitCode === exitCodes.unverified.code ? "⚠" : "✗"
  const exit = exitCode === null ? "" : `exit ${exitCode}`
  const undone = undoneAt !== null ? " (undone)" : partlyUndoneAt !== null ? " (partly undone)" : ""
  return (
    `${mark} ${shortId(id)}  ${startedAt.slice(0, 19)}Z  ${state.padEnd(9)} ${exit.padEnd(8)}` +
    ` ${`${stepsDone}/${stepCount}`.padStart(7)}  ${oneLine(goal, 80)}${undone}`
  )
}

export const sessionLogs = defineCommand({
  name: "session logs",
  summary: "print the events of a session, oldest first",
  description: "With --json one object a line: schema, seq, at, session, type, trace, data.",
  arguments: sessionArguments.arguments,
  flags: {
    ...sessionArguments.flags,
    filter: {
      kind: "text",
      value: "TYPES",
      summary: "only these types, such as 'step.finished|stage_transition'",
    },
    tail: limitFlag("only the last N of them"),
  },
  examples: [
    { line: "acode session logs --tail 20", note: "the end of the latest session" },
    { line: "acode session logs 3f2a91bc --filter 'tool_call.settled' --json", note: "for a script" },
  ],
  run: async (input, { service, output, globals }) => {
    const { flags } = input
    // Loaded only here: it imports the schemas of the events.
    const { eventFilter } = await import("./event-filter.ts")
    const isWanted = eventFilter(flags.filter)
    const app = await service()
    const id = await sessionIdOf(app, input)
    // Without --tail all events are printed: slice(-0) returns the whole array.
    const events = (await app.sessionEvents(id)).filter(isWanted).slice(-(flags.tail ?? 0))
    for (const event of events) {
      if (globals.json) output.jsonLine(eventLine(id, event))
      output.line(`${event.at}  ${event.type.padEnd(20)}  ${oneLine(JSON.stringify(event.data), 160)}`)
    }
    if (events.length === 0) output.notice("nothing found")
    return 0
  },
})

export const sessionPrune = defineCommand({
  name: "session prune",
  summary: "remove old sessions; a signed tombstone stays, so the history still verifies",
  description:
    "A session is as old as its last event. One that runs is never removed; one that waits for an answer or can still\n" +
    "be undone only with --force, and cannot be undone afterwards.",
  arguments: [],
  flags: {
    "older-than": ageFlag,
    keep: limitFlag("keep the N newest, however old they are"),
    "dry-run": { kind: "boolean", summary: "only show what would be removed" },
    force: { kind: "boolean", summary: "also sessions that wait for an answer or can still be undone" },
    "trust-clock": trustClockFlag,
  },
  examples: [
    { line: "acode session prune --older-than 30d --dry-run", note: "look first" },
    { line: "acode session prune --older-than 30d --keep 10", note: "keep the last month, and ten at least" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const pruned = await app.pruneSessions({
      olderThanMs: flags["older-than"] ?? (await app.retentionMs()),
      trustsClock: flags["trust-clock"],
      keep: flags.keep ?? 0,
      isForced: flags.force,
      isDryRun: flags["dry-run"],
    })
    const { removed, left, freedBytes } = pruned
    if (globals.json) output.json({ removed, left, freedBytes, isDryRun: flags["dry-run"] })
    reportDistrust(output, pruned)
    const did = flags["dry-run"] ? "would remove" : "removed"
    for (const { id, startedAt, goal, wasUndoable } of removed)
      output.line(
        `${did} ${shortId(id)}  ${startedAt.slice(0, 19)}Z  ${oneLine(goal, 80)}${wasUndoable ? " (can still be undone)" : ""}`,
      )
    for (const { id, reason } of left) output.line(`kept ${shortId(id)}: ${reason}`)
    output.line(
      flags["dry-run"]
        ? `${counted(removed.length, "session")} would be removed`
        : `${counted(removed.length, "session")} removed, ${bytesText(freedBytes)} freed`,
    )
    return 0
  },
})

export const sessionShow = defineCommand({
  name: "session show",
  summary: "show one session: how it ended, what each step did, and the answers to its questions",
  ...sessionArguments,
  examples: [
    { line: "acode session show", note: "the latest one" },
    { line: "acode session show 3f2a91bc --json", note: "for a script" },
  ],
  run: async (input, { service, output, globals }) => {
    // Loaded only here: it imports the schemas of the events.
    const { sessionView } = await import("../../../domain/session/session-view.ts")
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

export const sessionValidate = defineCommand({
  name: "session validate",
  summary: "check that a session kept every rule and its record is unchanged",
  description:
    "Checks that no event is missing, that every transition is allowed, that limits were kept, that a finished session\n" +
    "passed all four stages, and that chain and signatures are intact. Otherwise exits 65 and names every event that\n" +
    "breaks a rule.",
  ...sessionArguments,
  examples: [{ line: "acode session validate 3f2a91bc", note: "exits 0 if it did" }],
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
    return ok ? 0 : exitCodes.integrity.code
  },
})
