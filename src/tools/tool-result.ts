import type { CallError } from "../domain/tool-call.ts"
import type { PreparedCall, ToolDeps, ToolResult } from "./contract.ts"

type Given = Pick<ToolResult, "value" | "text" | "paths"> & Partial<ToolResult>

/** Returns a result; only what differs from a plain success has to be given. */
export function toolResult(deps: ToolDeps, given: Given, isRedacted = false): ToolResult {
  const error = given.error ?? null
  // A cut could leave half of a secret, which would not be recognised any more.
  const text = isRedacted ? given.text : deps.redactor.redactText(given.text)
  return {
    error,
    exitCode: null,
    executionId: null,
    changes: [],
    diagnostics: error === null ? [] : [diagnosticOf(error)],
    ...given,
    text: boundedView(text, deps.limits.viewBytesMax),
  }
}

function diagnosticOf({ code, message, where }: CallError) {
  const [, file = where ?? "", line = "0"] = /^(.*?)(?::(\d+))?$/s.exec(where ?? "") ?? []
  return { level: "error" as const, message, file_name: file, line_start: Number(line), code }
}

/** Returns a call that changes nothing and so has nothing to compute in advance. */
export function preparedRead(preview: string, execute: PreparedCall["execute"]): PreparedCall {
  return { targets: [], subject: { argv: [], cwd: ".", environment: {} }, preview, execute }
}

/**
 * Cuts a text to the length that a model is shown. Both ends remain, because a failure is reported at the end and the
 * request is at the beginning, and the gap says how much is missing. The text must be redacted: a cut could split a
 * secret.
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
