import type { ErrorCode } from "../error-codes.ts"
import { toolsOfKind } from "./tool-traits.ts"

/** A code of the plan format for a failure that also has a code of its own in the evidence. */
interface PlanCode {
  readonly code: ErrorCode
  /** The code of the call. */
  readonly behind: ErrorCode
  /** The tools that it applies to, as plans and models write them; null for any tool. */
  readonly tools: ReadonlySet<string> | null
  /** True if it applies only to a step that asks for confirmation. */
  readonly isConfirmation: boolean
}

const readers = toolsOfKind("read")
const writers = toolsOfKind("write")

const planCodes: readonly PlanCode[] = [
  { code: "E105", behind: "ACODE-EXEC-005", tools: null, isConfirmation: true },
  { code: "E301", behind: "ACODE-FS-002", tools: readers, isConfirmation: false },
  { code: "E302", behind: "ACODE-FS-005", tools: writers, isConfirmation: false },
]

interface NamedCall {
  readonly tool: string
  readonly requiresConfirmation: boolean
}

/** Returns the code of the plan format for the end of a call; null if it has none. */
export function planCodeOf(call: NamedCall, code: string): ErrorCode | null {
  return planCodes.find(each => each.behind === code && fits(each, call))?.code ?? null
}

/**
 * Returns the code to look for in evidence, and the test for the calls that it applies to; null for any other code.
 */
export function codeBehind(code: string) {
  const found = planCodes.find(each => each.code === code)
  if (found === undefined) return null
  return {
    code: found.behind,
    tools: found.tools,
    isConfirmation: found.isConfirmation,
    // Only a concrete step can ask for confirmation, and the approval of the plan answers every other question about
    // it.
    isMeant: ({ tool, stepKey }: { readonly tool: string; readonly stepKey: string | null }) =>
      fits(found, { tool, requiresConfirmation: stepKey !== null }),
  }
}

function fits({ tools, isConfirmation }: PlanCode, { tool, requiresConfirmation }: NamedCall): boolean {
  return (tools === null || tools.has(tool)) && (requiresConfirmation || !isConfirmation)
}
