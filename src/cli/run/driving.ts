import type { ApprovalPrompt } from "../../app/approval-desk.ts"
import { readYes } from "../../app/policy-yes.ts"
import type { AgentEnd } from "../../app/verbs/agent.ts"
import type { AgentSurface } from "../../app/wiring/agent-surface.ts"
import { systemClock } from "../../base/clock.ts"
import { printable, shellQuoted } from "../../base/text.ts"
import { SessionFinished, SessionRested } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import type { SessionEvent } from "../../domain/session/session-view.ts"
import type { DiffStat } from "../../engine/diffstat.ts"
import type { StoredEvent } from "../../store/contract.ts"
import type { CliContext } from "../context.ts"
import type { Output } from "../output.ts"
import { diffStatLines } from "../render/diffstat-text.ts"
import { eventLine, shortId } from "../render/format.ts"
import type { Prices } from "../render/usage-text.ts"
import { twoStepInterruption } from "../terminal/interruption.ts"
import { isInteractive } from "../terminal/terminal.ts"
import { whileRead } from "./closed-output.ts"
import type { SessionFlags } from "./flags.ts"
import { every, hasLiveLine, liveLine, sessionWaits } from "./live-line.ts"
import { runRenderer } from "./render.ts"

export interface Drive {
  readonly flags: SessionFlags
  /** The value of `--yes`, given now or when the session was started. */
  readonly yes: string | null
  /** The events before this process. */
  readonly seen: readonly SessionEvent[]
  readonly prices: Prices
  readonly begin: (surface: AgentSurface) => Promise<AgentEnd>
}

/** Drives a session from this terminal: prints its events, asks questions, and stops on Ctrl-C. */
export async function driveHere(context: CliContext, drive: Drive): Promise<number> {
  const { flags, yes, seen, prices, begin } = drive
  const { output, globals } = context
  using interrupted = twoStepInterruption(() =>
    show(() => {
      streamed.endLine()
      output.notice("pausing when the running request or command has ended; Ctrl-C again stops it at once")
    }),
  )
  const { verbose, quiet, json } = globals
  const renderer = runRenderer({ paint: output, verbose, quiet, prices, replies: repliesOf(flags) }, seen)
  const streamed = streamedText(output, flags["show-model-progress"])
  const { show, assertNothingLost } = whileRead(interrupted.leave)
  using live = liveLine({
    draw: text => show(() => output.live(hasLiveLine(context) && !streamed.isOpen() ? text : null)),
    clock: systemClock,
    columns: () => process.stderr.columns ?? 80,
    every,
    waitedFor: sessionWaits(),
  })
  const { script, record, replay } = flags
  const printLines = (lines: readonly string[], changes: DiffStat | null): void => {
    for (const line of changes === null ? [] : diffStatLines(changes)) output.line(line)
    for (const line of lines) output.line(output.advice(line))
  }
  using ending = heldEnding()
  const end = await begin({
    model: { script, record, replay },
    isInteractive: isInteractive(context),
    acceptsPlans: yes !== null && readYes(yes, true).scopes.plan,
    prompt: promptHere(output, interrupted),
    notice: text => show(() => output.notice(text)),
    onEvent: event =>
      show(() => {
        streamed.endLine()
        live.after(event)
        ending.print(null)
        if (json) {
          ending.add(event, changes => show(() => output.jsonLine(endedLine(event, changes))))
          return
        }
        const lines = renderer.render(event.stream, event)
        ending.add(event, changes => show(() => printLines(lines, changes)))
      }),
    onText: text => {
      live.received(text)
      show(() => streamed.add(text))
    },
    stopping: interrupted,
    waits: flags.wait,
    onWaiting: running => live.awaits(ownerText(running)),
  })
  ending.print(quiet && !json ? null : await (await context.service()).diffStat(end.sessionId))
  assertNothingLost()
  return end.exitCode
}

/** Delays printing the end of a session until its changes are counted: the next commands are printed last. */
function heldEnding(): HeldEnding {
  let held: PrintEnding | null = null
  const flush: PrintEnding = changes => {
    const print = held
    held = null
    print?.(changes)
  }
  return {
    print: flush,
    add: ({ type }, print) => {
      held = print
      if (type !== SessionFinished.type && type !== SessionRested.type) flush(null)
    },
    [Symbol.dispose]: () => flush(null),
  }
}

/** Prints the end of a session. `changes` is null for other events, and when they could not be counted. */
type PrintEnding = (changes: DiffStat | null) => void

interface HeldEnding extends Disposable {
  add(event: SessionEvent, print: PrintEnding): void
  readonly print: PrintEnding
}

/** Returns the recorded event, with the changes of the session beside the last one. */
function endedLine(event: StoredEvent, changes: DiffStat | null) {
  const line = eventLine(event.stream, event)
  return changes === null ? line : { ...line, changes }
}

function repliesOf({ script, replay }: SessionFlags): string | null {
  if (script !== undefined) return `--script ${shellQuoted(script)}`
  return replay === undefined ? null : `--replay ${shellQuoted(replay)}`
}

function ownerText(running: Parameters<NonNullable<AgentSurface["onWaiting"]>>[0]): string {
  if (running === null) return "the session before it"
  return `session ${shortId(running.id)} (process ${running.owner.pid})`
}

/** Refuses `--skip-verify` unless a person at the terminal gives it, or it is acknowledged with both flags. */
export function checkSkipVerify(context: CliContext, flags: SessionFlags): void {
  if (!flags["skip-verify"]) return
  const { globals, output } = context
  const isAcknowledged =
    typeof globals.yes === "string" && readYes(globals.yes, globals["ack-danger"]).scopes.skipVerify
  if (!isInteractive(context) && !isAcknowledged)
    throw new Failure({
      kind: "denied",
      code: "ACODE-EXEC-005",
      message: "--skip-verify omits every check, and there is no terminal to approve that",
      where: "--skip-verify",
      hint: "leave it out, or grant it with --yes=skip_verify",
    })
  output.notice("⚠ --skip-verify: nothing is checked, and the result is marked as unverified")
}

/**
 * Returns a prompt, loaded with the first question. A pause ends an open question, because it may never be answered.
 */
function promptHere(
  output: Output,
  { drain, hurry }: { readonly drain: AbortSignal; readonly hurry: () => void },
): ApprovalPrompt {
  return async (question, dismissed) => {
    const { approvalPrompt } = await import("./approval-prompt.ts")
    drain.addEventListener("abort", hurry)
    try {
      if (drain.aborted) hurry()
      return await approvalPrompt(output)(question, dismissed)
    } finally {
      drain.removeEventListener("abort", hurry)
    }
  }
}

/** Prints the model's text while it arrives, to stderr. */
function streamedText(output: Output, isShown: boolean) {
  let isOpen = false
  return {
    add: (text: string) => {
      if (!isShown || text === "") return
      output.question(printable(text))
      isOpen = !text.endsWith("\n")
    },
    isOpen: () => isOpen,
    /** Ends the line, so that the next output begins on its own line. */
    endLine: () => {
      if (isOpen) output.question("\n")
      isOpen = false
    },
  }
}
