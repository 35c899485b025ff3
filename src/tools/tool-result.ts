import type { CallError } from "../domain/tool-call.ts"
import type { PreparedCall, ToolResult, ToolRoom } from "./contract.ts"

type Given = Pick<ToolResult, "value" | "text" | "paths"> & Partial<ToolResult>

/** A result in which only what differs from a plain success has to be said. */
export function toolResult(room: ToolRoom, given: Given, isRedacted = false): ToolResult {
  const error = given.error ?? null
  // A cut could leave half of a secret, which nobody recognises any more.
  const text = isRedacted ? given.text : room.redactor.redactText(given.text)
  return {
    error,
    exitCode: null,
    executionId: null,
    changes: [],
    diagnostics: error === null ? [] : [diagnosticOf(error)],
    ...given,
    text: boundedView(text, room.limits.viewBytesMax),
  }
}

function diagnosticOf({ code, message, where }: CallError) {
  const [, file = where ?? "", line = "0"] = /^(.*?)(?::(\d+))?$/s.exec(where ?? "") ?? []
  return { level: "error" as const, message, file_name: file, line_start: Number(line), code }
}

/** A call that changes nothing has nothing to compute before it is made. */
export function preparedRead(preview: string, execute: PreparedCall["execute"]): PreparedCall {
  return { targets: [], subject: { argv: [], cwd: ".", environment: {} }, preview, execute }
}

/**
 * A text cut to what a model is shown. Both ends are kept, because what failed stands at the end and what was asked
 * at the beginning, and the gap says how much is missing. The text must be redacted: a cut could split a secret.
 */
export function boundedView(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  const bytes = Buffer.from(text, "utf8")
  const head = wholeEnd(bytes, Math.floor(bytesMax / 2))
  const tail = wholeStart(bytes, bytes.length - Math.floor(bytesMax / 2))
  const gap = `\n[… ${tail - head} of ${bytes.length} bytes are not shown …]\n`
  return bytes.toString("utf8", 0, head) + gap + bytes.toString("utf8", tail)
}

function wholeEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while (end > 0 && isContinuation(bytes[end])) end -= 1
  return end
}

function wholeStart(bytes: Uint8Array, at: number): number {
  let start = at
  while (start < bytes.length && isContinuation(bytes[start])) start += 1
  return start
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
