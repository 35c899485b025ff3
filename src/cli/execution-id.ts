import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import type { ExecutionHistory } from "../store/contract.ts"

/** The one execution a person means by an id, its beginning or its end. */
export function executionId(history: ExecutionHistory | null, typed: string): string {
  const found = history?.matching(typed) ?? []
  const [first] = found
  if (found.length === 1 && first !== undefined) return first
  if (found.length === 0)
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-004",
      message: `no execution has the id "${printable(typed)}"`,
      hint: "`acode runs list` shows the ids",
    })
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-005",
    message: `"${printable(typed)}" fits ${found.length} executions: ${found.slice(0, 4).join(", ")}${found.length > 4 ? ", …" : ""}`,
    hint: "type more of the id",
  })
}
