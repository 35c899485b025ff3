import { readHostPattern } from "../domain/hosts.ts"
import { quoted } from "../domain/plan/problem.ts"
import { type PlanReading, readPlan } from "../domain/plan/reading.ts"
import type { PlanTools } from "../domain/plan/rules.ts"
import type { EvidenceHistory } from "../store/evidence/contract.ts"
import { resolveTool } from "../tools/aliases.ts"
import { checkArguments } from "../tools/registry.ts"

/** Answers what tools declare about the calls of a plan, before any call runs. */
export const planTools: PlanTools = {
  hostProblem: entry => {
    const reading = readHostPattern(entry)
    return "problem" in reading ? reading.problem : null
  },
  check: (name, args) => {
    const resolved = resolveTool(name)
    switch (resolved.kind) {
      case "tool":
        if (resolved.tool.isForModelsOnly === true)
          return [
            notAllowed(`${quoted(name)} cannot be a step of a plan: only a model can use what it returns`),
          ]
        return checkArguments(resolved, args).map(({ argument, message }) => ({
          code: "E202" as const,
          argument: argument === "" ? null : argument,
          message,
        }))
      case "unavailable":
        return [notAllowed(`${quoted(name)} cannot be called: ${resolved.reason}`)]
      case "unknown":
        return [notAllowed(`unknown tool ${quoted(name)}${suggestion(resolved.nearest)}`)]
    }
  },
}

/** Reads a plan. Whether its citations exist is asked of the evidence, where there is any to ask and it cites any. */
export async function readCitedPlan(
  text: string,
  evidence: (() => Promise<EvidenceHistory | null>) | null,
): Promise<PlanReading> {
  const tools = { ...planTools, judgesIntent: true } as const
  const cited: string[] = []
  const reading = readPlan(text, {
    ...tools,
    citationProblem: each => {
      cited.push(each)
      return null
    },
  })
  if (evidence === null || cited.every(isQuery)) return reading
  const history = await evidence()
  return readPlan(text, { ...tools, citationProblem: each => citationProblem(history, each) })
}

/** Returns whether a citation names one of the eight queries of `acode evidence`, which every history answers. */
function isQuery(citation: string): boolean {
  return /^Q[1-8]$/.test(citation)
}

/** Returns why a citation of a plan names no evidence of this history; null if it names some. */
export function citationProblem(evidence: EvidenceHistory | null, citation: string): string | null {
  if (isQuery(citation)) return null
  const found = citation === "" ? 0 : (evidence?.matching(citation).length ?? 0)
  if (found === 1) return null
  const what = found === 0 ? "is not evidence of this workspace" : `fits ${found} rows of evidence`
  return `${what}; cite a query from Q1 to Q8, or an id that evidence queries show`
}

function notAllowed(message: string) {
  return { code: "E201" as const, argument: null, message }
}

function suggestion(nearest: string | null): string {
  return nearest === null ? "" : `; did you mean ${nearest}?`
}
