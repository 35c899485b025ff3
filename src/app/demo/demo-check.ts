import { readFileSync } from "node:fs"
import { join } from "node:path"
import { counted } from "../../base/text.ts"
import { dataOf } from "../../domain/events/definition.ts"
import { CheckFinished, CycleStarted } from "../../domain/events/pipeline-events.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import type { AuditReport, StoredEvent } from "../../store/contract.ts"
import type { AgentEnd } from "../verbs/agent.ts"

export interface DemoOutcome {
  readonly root: string
  readonly end: AgentEnd
  readonly events: readonly StoredEvent[]
  readonly audit: AuditReport
}

/** Returns the problems of a demo run, each with its exit code; empty when every result is as expected. */
export function demoProblems({ root, end, events, audit }: DemoOutcome): readonly DemoProblem[] {
  const cycles = events.flatMap(event => dataOf(CycleStarted, event) ?? [])
  const verdicts = events.flatMap(event => dataOf(CheckFinished, event)?.verdict ?? [])
  const found: DemoProblem[] = []
  if (end.exitCode !== 0 || end.state !== "COMPLETED")
    found.push({
      what: `the session ended ${end.state}: ${end.reason}`,
      exitCode: end.exitCode || exitCodes.general.code,
    })
  if (!audit.ok)
    found.push({
      what: audit.problems[0]?.what ?? "the history does not hold",
      exitCode: exitCodes.integrity.code,
    })
  if (end.unverified) found.push({ what: "the result was not verified", exitCode: exitCodes.general.code })
  if (cycles.length !== 1 || !verdicts.includes("failed"))
    found.push({
      what: `${counted(cycles.length, "cycle")} instead of one`,
      exitCode: exitCodes.general.code,
    })
  for (const [path, text] of Object.entries(expected))
    if (!readFileSync(join(root, path), "utf8").includes(text))
      found.push({ what: `${path} does not say ${text}`, exitCode: exitCodes.general.code })
  return found
}

export interface DemoProblem {
  readonly what: string
  readonly exitCode: number
}

const expected = {
  "src/slug.js": '.replace(/\\p{Diacritic}/gu, "")',
  "test/slug.test.js": "Crème brûlée",
  "README.md": '"creme-brulee"',
}
