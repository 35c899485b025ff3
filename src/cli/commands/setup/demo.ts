import type { DemoRoom } from "../../../app/demo/demo-project.ts"
import type { AgentEnd } from "../../../app/verbs/agent.ts"
import { counted } from "../../../base/text.ts"
import { SessionFinished, SessionRested } from "../../../domain/events/session-events.ts"
import type { AuditReport, StoredEvent } from "../../../store/contract.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import type { Output } from "../../output.ts"
import { durationText, eventLine } from "../../render/format.ts"
import { unknownPrices } from "../../render/usage-text.ts"
import { twoStepInterruption } from "../../terminal/interruption.ts"

export const demo = defineCommand({
  name: "demo",
  summary: "watch the whole pipeline work on a small sample project",
  description:
    "Copies a small project with tests to a temporary directory and works on it with a scripted model: a plan, edits,\n" +
    "a verification that fails once and is fixed, a review. Needs no model, no network and no terminal.",
  arguments: [],
  flags: { keep: { kind: "boolean", summary: "keep the directory for inspection" } },
  examples: [
    { line: "acode demo", note: "takes a few seconds and leaves nothing behind" },
    { line: "acode demo --keep", note: "to inspect what it did" },
  ],
  run: async ({ flags }, context) => {
    const { output, environment, globals } = context
    const { openDemo } = await import("../../../app/demo/demo-project.ts")
    const beganMs = performance.now()
    await using room = await openDemo(environment, flags.keep, text => output.notice(text))
    if (!globals.json) introduce(room, output)
    const { end, events } = await drive(room, context)
    const audit = await room.service.audit(null)
    const { demoProblems } = await import("../../../app/demo/demo-check.ts")
    const problems = demoProblems({ root: room.root, end, events, audit })
    printAudit(audit, output)
    for (const { what } of problems) output.line(`${output.red("✗")} ${what}`)
    if (problems.length === 0) printNext(room, end, flags.keep, performance.now() - beganMs, output)
    return problems[0]?.exitCode ?? 0
  },
})

function introduce({ root, testCommand, sandbox }: DemoRoom, output: Output): void {
  output.line(`A sample project is in ${root}; a script plays the model, everything else is real.`)
  output.line(`Its tests run with: ${testCommand.join(" ")}`)
  if (sandbox.isThere) return
  output.line(
    "⚠ No full sandbox works here: the tests of the sample run with less confinement or none; other commands are refused.",
  )
  if (sandbox.hint !== null) output.line(`  → ${sandbox.hint}`)
}

async function drive(room: DemoRoom, { output, globals }: CliContext) {
  const { runRenderer } = await import("../../run/render.ts")
  const { verbose, quiet, json } = globals
  const renderer = runRenderer({ paint: output, verbose, quiet, prices: unknownPrices, replies: null }, [])
  const events: StoredEvent[] = []
  using interrupted = twoStepInterruption(() => output.notice("stopping when the running command has ended"))
  const end: AgentEnd = await room.service.run(room.goal, room.settings, {
    model: { script: room.scriptFile },
    isInteractive: false,
    acceptsPlans: true,
    prompt: () => Promise.resolve(null),
    notice: text => output.notice(text),
    onEvent: event => {
      events.push(event)
      if (json) output.jsonLine(eventLine(event.stream, event))
      else for (const line of shownLines(renderer.render(event.stream, event), event)) output.line(line)
    },
    onText: () => undefined,
    stopping: interrupted,
    waits: false,
  })
  return { end, events }
}

/** Removes the next commands from the last lines: the directory of the demo is removed. */
function shownLines(lines: readonly string[], { type }: StoredEvent): readonly string[] {
  return type === SessionFinished.type || type === SessionRested.type ? lines.slice(0, 1) : lines
}

function printAudit({ ok, events, streams }: AuditReport, output: Output): void {
  if (ok)
    output.line(
      `[AUDIT] ${output.green("✓")} history verified: ${counted(events, "event")} in ${counted(streams, "stream")}`,
    )
  else output.line(`[AUDIT] ${output.red("✗")} the history is damaged`)
}

function printNext(
  { root }: DemoRoom,
  { sessionId }: AgentEnd,
  isKept: boolean,
  tookMs: number,
  output: Output,
): void {
  output.line()
  output.line(
    `Done in ${durationText(Math.round(tookMs))}. ${isKept ? "Inspect it:" : "The directory has been removed."}`,
  )
  const lines = isKept
    ? [
        `acode -C ${root} session show ${sessionId}`,
        `acode -C ${root} session undo ${sessionId}`,
        `rm -r ${root}/..`,
      ]
    : [
        "acode demo --keep",
        "acode doctor",
        'acode run "what you want done" --script FILE',
        "acode run --help",
      ]
  for (const line of lines) output.line(`  ${line}`)
}
