import type { PathOperation } from "../../domain/effect.ts"
import { Failure } from "../../domain/failure.ts"
import { type CheckAnswer, checkCommand, checkPath, commandEffect } from "../../policy/command-check.ts"
import { locate } from "../../workspace/files/pinned-name.ts"
import type { WiredPolicy } from "../wiring/policy.ts"
import type { Wiring } from "../wiring/wire.ts"

/** A string for a shell, a program with its arguments, or an operation on a path. */
export type PolicyQuestion =
  | { readonly command: string }
  | { readonly argv: readonly string[] }
  | { readonly path: string; readonly op: PathOperation }

export type PolicyAnswer = CheckAnswer

export interface PolicyQuestions {
  answer(question: PolicyQuestion): Promise<PolicyAnswer>
}

/** Answers for commands at the root of the workspace, outside any plan: by the rules, the defaults and `--yes`. */
export function policyQuestions(wiring: Wiring): PolicyQuestions {
  let loaded: Promise<WiredPolicy> | null = null
  const policy = () => {
    loaded ??= wiring.policy()
    return loaded
  }
  const isConfined = () => wiring.hasSandbox()
  return {
    answer: async question => {
      if ("path" in question) return answerPath(wiring, await policy(), question.path, question.op)
      const command = "argv" in question ? question.argv : question.command
      const confined = await isConfined()
      const { rules, optionsFor } = await policy()
      return checkCommand(command, confined, rules, await optionsFor([commandEffect(command, confined)]))
    },
  }
}

/** Decides on the typed path and on the path it leads to. */
async function answerPath({ root }: Wiring, policy: WiredPolicy, path: string, operation: PathOperation) {
  const options = await policy.optionsFor([])
  const asTyped = checkPath(path, operation, policy.rules, options)
  if (asTyped.decision === "deny") return asTyped
  const place = placeOf(() => locate(root, path).relative)
  if ("refused" in place) return place.refused
  // Deleting a symlink removes the link itself; every other operation follows it.
  if (place.path === null || operation === "delete") return asTyped
  const asFound = checkPath(place.path, operation, policy.rules, options)
  return asFound.decision === "allow" ? asTyped : asFound
}

type Place = { readonly path: string | null } | { readonly refused: PolicyAnswer }

/** Returns where a path leads; a path that the workspace would not open is refused whatever the rules say. */
function placeOf(find: () => string): Place {
  try {
    return { path: find() }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const rule = refusals[error.report.code]
    // It may be missing or unreadable: that is an error of the later operation, not a decision.
    if (rule === undefined) return { path: null }
    return { refused: { decision: "deny", confined: false, rule, reason: error.message } }
  }
}

const refusals: Readonly<Record<string, string>> = {
  "ACODE-SEC-005": "workspace.outside",
  "ACODE-FS-001": "workspace.malformed",
}
