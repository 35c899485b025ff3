import type { ErrorCode } from "../error-codes.ts"
import { toolsOfKind } from "./tool-traits.ts"

/** What authors of plans know by a name of its own; evidence holds the code the call itself ended with. */
interface PlanCode {
  readonly code: ErrorCode
  /** The code of the call. */
  readonly behind: ErrorCode
  /** The tools of which that is so, as plans and models write them; null for any tool. */
  readonly tools: ReadonlySet<string> | null
  /** Only of a step that asks for confirmation. */
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

/** What the plan format calls the end of a call; null when it has no name of its own for it. */
export function planCodeOf(call: NamedCall, code: string): ErrorCode | null {
  return planCodes.find(each => each.behind === code && fits(each, call))?.code ?? null
}

/** The code to look for in evidence, and which of the calls that have it are meant; null for any other code. */
export function codeBehind(code: string) {
  const found = planCodes.find(each => each.code === code)
  if (found === undefined) return null
  return {
    code: found.behind,
    // Only a step that is written out can ask for confirmation, and nothing else of it is asked: it was approved.
    isMeant: ({ tool, stepKey }: { readonly tool: string; readonly stepKey: string | null }) =>
      fits(found, { tool, requiresConfirmation: stepKey !== null }),
  }
}

function fits({ tools, isConfirmation }: PlanCode, { tool, requiresConfirmation }: NamedCall): boolean {
  return (tools === null || tools.has(tool)) && (requiresConfirmation || !isConfirmation)
}
