import { Failure } from "../domain/failure.ts"
import {
  type CheckAnswer,
  checkCommand,
  checkPath,
  commandEffect,
  needsShellParser,
} from "../policy/command-check.ts"
import type { PathOperation } from "../policy/contract.ts"
import type { PolicyOptions } from "../policy/decision.ts"
import { shippedDefaults } from "../policy/levels.ts"
import { ruleSet } from "../policy/rules.ts"
import { noScopes } from "../policy/yes-scopes.ts"
import { locate } from "../workspace/place.ts"
import type { Wiring } from "./wire.ts"
import { probeHere } from "./wire-sandbox.ts"

/** A string for a shell, a program with its arguments, or something to be done to a path. */
export type PolicyQuestion =
  | { readonly command: string }
  | { readonly argv: readonly string[] }
  | { readonly path: string; readonly op: PathOperation }

export type PolicyAnswer = CheckAnswer

export interface PolicyQuestions {
  answer(question: PolicyQuestion): Promise<PolicyAnswer>
}

/** Answers what the shipped rules decide at the root of the workspace, outside any plan and without `--yes`. */
export function policyQuestions({ root, request }: Wiring): PolicyQuestions {
  const rules = ruleSet([])
  const options: PolicyOptions = {
    root: root.path,
    home: request.environment.home,
    defaults: shippedDefaults,
    yes: noScopes,
    parser: null,
  }
  let probed: Promise<boolean> | null = null
  const hasSandbox = () => {
    probed ??= probeHere(root.path).then(({ kind }) => kind !== "none")
    return probed
  }
  const answerCommand = async (command: string | readonly string[]) => {
    const isConfined = await hasSandbox()
    const isShell = needsShellParser([commandEffect(command, isConfined)])
    const parser = isShell ? await loadParser() : null
    return checkCommand(command, isConfined, rules, { ...options, parser })
  }
  const answerPath = (path: string, operation: PathOperation) => {
    const asTyped = checkPath(path, operation, rules, options)
    if (asTyped.decision === "deny") return asTyped
    const place = placeOf(() => locate(root, path).relative)
    if ("refused" in place) return place.refused
    // A symlink is deleted itself; everything else happens to what it points to.
    if (place.path === null || operation === "delete") return asTyped
    const asFound = checkPath(place.path, operation, rules, options)
    return asFound.decision === "allow" ? asTyped : asFound
  }
  return {
    answer: async question => {
      if ("path" in question) return answerPath(question.path, question.op)
      return answerCommand("argv" in question ? question.argv : question.command)
    },
  }
}

/** Only when a string has to be read: the grammar costs more than everything else a check does. */
async function loadParser() {
  const { loadShellParser } = await import("../policy/shell-parser.ts")
  return loadShellParser()
}

type Place = { readonly path: string | null } | { readonly refused: PolicyAnswer }

/** Where a path leads; what the workspace would not open is refused whatever the rules say. */
function placeOf(find: () => string): Place {
  try {
    return { path: find() }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const rule = refusals[error.report.code]
    // It may be missing or unreadable: that is for whoever opens it, and no decision.
    if (rule === undefined) return { path: null }
    return { refused: { decision: "deny", confined: false, rule, reason: error.message } }
  }
}

const refusals: Readonly<Record<string, string>> = {
  "ACODE-SEC-005": "workspace.outside",
  "ACODE-FS-001": "workspace.malformed",
}
