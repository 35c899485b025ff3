import type { SessionEvent } from "../domain/session-view.ts"

/** An event as programs read it. The trace is that of the session: everything it did belongs together. */
export function eventLine(session: string, { seq, at, type, data }: SessionEvent) {
  return { schema: 1, seq, at, session, type, trace: traceOf(session), data }
}

/** 32 hexadecimal digits, as tracing tools want them: those of the session's own id. */
function traceOf(session: string): string {
  return session.replace(/^ses_/, "").replaceAll("-", "")
}
