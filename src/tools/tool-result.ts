import type { CallError } from "../domain/tool-call.ts"
import type { PreparedCall, ToolResult, ToolRoom } from "./contract.ts"
import { boundedView } from "./view.ts"

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
