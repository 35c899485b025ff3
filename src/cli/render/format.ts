import { printable } from "../../base/text.ts"
import type { SessionEvent } from "../../domain/session/session-view.ts"
import type { Certainty } from "../../domain/tool-call.ts"

/** Returns the end of an id, which listings show and people type. */
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

/** Returns the lines of a model's answer, without control characters. */
export function answerLines(answer: string): readonly string[] {
  return printable(answer).split("\n")
}

/** The best result of a plan run: it checks no criterion of the plan. */
export const nothingChecked = "each step succeeded as written; nothing checked the result"

/** The known effect of a call, as text after "its effect". No text may claim more than is known. */
export const certaintyText: Readonly<Record<Certainty, string>> = {
  done: "took place",
  notDone: "did not take place",
  partly: "took place in part",
  unknown: "may or may not have taken place",
}

/** Returns an event as programs read it. All events of a session have one trace. */
export function eventLine(session: string, { seq, at, type, data }: SessionEvent) {
  return { schema: 1, seq, at, session, type, trace: traceOf(session), data }
}

/** Returns the trace id, 32 hexadecimal digits, which are those of the session's id. */
function traceOf(session: string): string {
  return session.replace(/^ses_/, "").replaceAll("-", "")
}
