import type { Json } from "../base/canonical.ts"
import { printable } from "../base/text.ts"
import type { ErrorCode } from "../domain/error-codes.ts"
import type { CallError } from "../domain/tool-call.ts"
import { resolveTool } from "../tools/aliases.ts"
import type { Tool } from "../tools/contract.ts"
import { checkArguments } from "../tools/registry.ts"

export type Resolution =
  /** The arguments under the names that the tool knows, with unchanged values. */
  | { readonly kind: "tool"; readonly tool: Tool; readonly arguments: Json }
  | { readonly kind: "problem"; readonly canonical: string | null; readonly error: CallError }

/** Resolves a name and arguments as written to a call that can be made, or to all of their problems. */
export function resolveCall(name: string, args: Json, offered: readonly string[] | null = null): Resolution {
  const found = resolveTool(name)
  if (found.kind === "unavailable") return problem(null, "E201", `${printable(name)}: ${found.reason}`, null)
  if (found.kind === "unknown") {
    const hint = found.nearest === null ? null : `did you mean ${found.nearest}?`
    return problem(null, "E201", `unknown tool ${printable(name)}`, hint)
  }
  if (offered?.includes(found.tool.name) === false)
    return problem(
      found.tool.name,
      "E201",
      `${printable(name)} is not offered here`,
      `use ${offered.join(", ")}`,
    )
  const problems = checkArguments(found, args)
  if (problems.length === 0) return { kind: "tool", tool: found.tool, arguments: found.rename(args) }
  const code = problems.some(({ missing }) => missing) ? "E202" : "ACODE-EXEC-007"
  const messages = problems.map(
    ({ argument, message }) => `${argument === "" ? "arguments" : argument} ${message}`,
  )
  return problem(found.tool.name, code, `${printable(name)}: ${messages.join("; ")}`, null)
}

function problem(
  canonical: string | null,
  code: ErrorCode,
  message: string,
  hint: string | null,
): Resolution {
  return { kind: "problem", canonical, error: { code, message, where: null, hint } }
}
