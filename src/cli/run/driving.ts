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
import { runTeller } from "./render.ts"

export interface Drive {
  readonly flags: SessionFlags
  /** What `--yes` says, now or when the session was started. */
  readonly yes: string | null
  /** What happened before this process. */
  readonly seen: readonly SessionEvent[]
  readonly prices: Prices
  readonly begin: (surface: AgentSurface) => Promise<AgentEnd>
}

/** Drives a session from this terminal: shows what happens as it happens, asks, and lets itself be stopped. */
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
  const teller = runTeller({ paint: output, verbose, quiet, prices, replies: repliesOf(flags) }, seen)
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
  const tellLines = (lines: readonly string[], changes: DiffStat | null): void => {
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
        ending.tell(null)
        if (json) {
          ending.add(event, changes => show(() => output.jsonLine(endedLine(event, changes))))
          return
        }
        const lines = teller.tell(event.stream, event)
        ending.add(event, changes => show(() => tellLines(lines, changes)))
      }),
    onText: text => {
      live.heard(text)
      show(() => streamed.add(text))
    },
    stopping: interrupted,
    waits: flags.wait,
    onWaiting: running => live.awaits(ownerText(running)),
  })
  ending.tell(quiet && !json ? null : await (await context.service()).diffStat(end.sessionId))
  assertNothingLost()
  return end.exitCode
}

/** Holds back how a session ended until it is known what it changed: what to type next comes last. */
function heldEnding(): HeldEnding {
  let held: PrintEnding | null = null
  const tell: PrintEnding = changes => {
    const print = held
    held = null
    print?.(changes)
  }
  return {
    tell,
    add: ({ type }, print) => {
      held = print
      if (type !== SessionFinished.type && type !== SessionRested.type) tell(null)
    },
    [Symbol.dispose]: () => tell(null),
  }
}

/** Null for an event that is no ending, and where the changes could not be counted. */
type PrintEnding = (changes: DiffStat | null) => void

interface HeldEnding extends Disposable {
  add(event: SessionEvent, print: PrintEnding): void
  readonly tell: PrintEnding
}

/** The event as it is recorded; beside the last one of a run is what the session changed. */
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

/** Leaving out every check is a person's word: somebody says so here, or has said so with both flags. */
export function checkSkipVerify(context: CliContext, flags: SessionFlags): void {
  if (!flags["skip-verify"]) return
  const { globals, output } = context
  const isAcknowledged =
    typeof globals.yes === "string" && readYes(globals.yes, globals["ack-danger"]).scopes.skipVerify
  if (!isInteractive(context) && !isAcknowledged)
    throw new Failure({
      kind: "denied",
      code: "ACODE-EXEC-005",
      message: "--skip-verify leaves out every check, which nobody here can approve",
      where: "--skip-verify",
      hint: "leave it out, or grant it with --yes=skip_verify",
    })
  output.notice("⚠ --skip-verify: nothing is checked, and the result is marked as unverified")
}

/** The prompt is loaded when somebody is asked. A question that waits is nothing that could come to its end. */
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

/** What the model writes while it writes it, beside the answer. */
function streamedText(output: Output, isShown: boolean) {
  let isOpen = false
  return {
    add: (text: string) => {
      if (!isShown || text === "") return
      output.question(printable(text))
      isOpen = !text.endsWith("\n")
    },
    isOpen: () => isOpen,
    /** What comes next has a line of its own. */
    endLine: () => {
      if (isOpen) output.question("\n")
      isOpen = false
    },
  }
}
