import { printable } from "../../base/text.ts"
import type { SessionEvent } from "../../domain/session/session-view.ts"
import type { Certainty } from "../../domain/tool-call.ts"

/** The end of an id is what listings show and what people type back. */
export function shortId(id: string): string {
  return id.slice(-8)
}

export function durationText(durationMs: number): string {
  if (durationMs < 1000) return `${durationMs} ms`
  if (durationMs < 60_000) return `${(durationMs / 1000).toFixed(1)} s`
  const seconds = Math.round(durationMs / 1000)
  return `${Math.floor(seconds / 60)} m ${seconds % 60} s`
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`
}

/** What a model answered, harmless on a terminal. */
export function answerLines(answer: string): readonly string[] {
  return printable(answer).split("\n")
}

/** How a plan run ends at best: no criterion of the plan is checked in it. */
export const nothingChecked = "each step succeeded as written; nothing checked the result"

/** What is known about the effect of a call, after "its effect". Nothing here may sound surer than it is. */
export const certaintyText: Readonly<Record<Certainty, string>> = {
  done: "took place",
  notDone: "did not take place",
  partly: "took place in part",
  unknown: "may or may not have taken place",
}

/** An event as programs read it. The trace is that of the session: everything it did belongs together. */
export function eventLine(session: string, { seq, at, type, data }: SessionEvent) {
  return { schema: 1, seq, at, session, type, trace: traceOf(session), data }
}

/** 32 hexadecimal digits, as tracing tools want them: those of the session's own id. */
function traceOf(session: string): string {
  return session.replace(/^ses_/, "").replaceAll("-", "")
}
