import { unknownId } from "../../../app/recorded-id.ts"
import type { AppService } from "../../../app/service.ts"
import { shownPath } from "../../../base/path-names.ts"
import { oneLine } from "../../../base/text.ts"
import { codeBehind } from "../../../domain/plan/codes.ts"
import type {
  EvidenceDetails,
  EvidenceHistory,
  EvidenceRange,
  EvidenceRow,
} from "../../../store/evidence/contract.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import { type FlagSpecs, type FlagValues, limitFlag, timeFlags } from "../../parse/flags.ts"
import { instantOf } from "../../parse/instant.ts"
import { certaintyText, durationText, shortId } from "../../render/format.ts"

/** The flags of every query for evidence that returns rows. */
const rangeFlags = {
  ...timeFlags,
  limit: limitFlag("at most N rows (50)"),
} as const satisfies FlagSpecs

function rangeOf(flags: FlagValues<typeof rangeFlags>, app: AppService): EvidenceRange {
  const { since, until, limit = 50 } = flags
  return {
    limit,
    ...(since === undefined ? {} : { since: instantOf(since, app.now()) }),
    ...(until === undefined ? {} : { until: instantOf(until, app.now()) }),
  }
}

/** Prints rows of evidence: a line for each, or one JSON array. An empty result is not an error. */
function printEvidence(rows: readonly EvidenceRow[], context: CliContext): number {
  return printRows(rows, evidenceLine, context)
}

/** Prints rows of any kind that has an id. */
function printRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  lineOf: (row: Row) => string,
  { output, globals }: CliContext,
): number {
  if (globals.json) output.json(rows)
  for (const row of rows) output.line(lineOf(row))
  if (rows.length === 0) output.notice("nothing found")
  return 0
}

function evidenceLine(row: EvidenceRow): string {
  const { id, at, tool, status, durationMs, stepId, errorCode, errorMessage } = row
  const took = durationMs === null ? "" : durationText(durationMs)
  const step = stepId === null ? "" : `  step ${oneLine(stepId, 40)}`
  const error = errorCode === null ? "" : `  ${errorCode}: ${oneLine(errorMessage ?? "", 80)}`
  return (
    `${marks[status]} ${shortId(id)}  ${at.slice(0, 19)}Z  ${oneLine(tool, 30).padEnd(14)}` +
    ` ${status.padEnd(11)} ${took.padStart(8)}${step}${error}`
  )
}

const marks: Readonly<Record<EvidenceRow["status"], string>> = {
  started: "…",
  succeeded: "✓",
  failed: "✗",
  interrupted: "⚠",
}

export const evidenceByCode = defineCommand({
  name: "evidence by-code",
  summary: "list calls with a diagnostic of this code, newest first",
  arguments: [{ name: "CODE", summary: "such as TS2322 or E301" }],
  flags: rangeFlags,
  examples: [{ line: "acode evidence by-code E301", note: "every read of a file that was not there" }],
  run: async ({ arguments: [code = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const evidence = (await app.listed())?.evidence ?? null
    return printEvidence(evidence === null ? [] : callsWith(evidence, code, range), context)
  },
})

/** Returns the calls with an error code, also those that have it only in the plan format and not in their evidence. */
function callsWith(evidence: EvidenceHistory, code: string, range: EvidenceRange): readonly EvidenceRow[] {
  const named = evidence.byCode(code, range)
  const behind = codeBehind(code)
  if (behind === null) return named
  const { limit, ...times } = range
  const meant = evidence.byCode(behind.code, times).filter(behind.isMeant)
  const newestFirst = (one: EvidenceRow, other: EvidenceRow) => other.at.localeCompare(one.at)
  return [...named, ...meant].sort(newestFirst).slice(0, limit)
}

export const evidenceByFile = defineCommand({
  name: "evidence by-file",
  summary: "list calls that read or changed a path, newest first",
  arguments: [{ name: "PATH", summary: "relative to the workspace, or absolute" }],
  flags: rangeFlags,
  examples: [{ line: "acode evidence by-file src/email.ts", note: "who touched it" }],
  run: async ({ arguments: [path = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    return printEvidence((await app.listed())?.evidence.byFile(app.recordedPath(path), range) ?? [], context)
  },
})

export const evidenceByTool = defineCommand({
  name: "evidence by-tool",
  summary: "list the calls of a tool, oldest first",
  arguments: [{ name: "TOOL", summary: "in either spelling: write_file or file_write" }],
  flags: rangeFlags,
  examples: [
    { line: "acode evidence by-tool write_file --since 1d", note: "every file written since yesterday" },
    { line: "acode evidence by-tool run_command --json", note: "for a script" },
  ],
  run: async ({ arguments: [tool = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const name = await canonicalToolName(tool)
    return printEvidence((await app.listed())?.evidence.byTool(name, range) ?? [], context)
  },
})

export const evidenceFailures = defineCommand({
  name: "evidence failures",
  summary: "list calls that failed, newest first",
  arguments: [{ name: "TOOL", summary: "only this tool, in either spelling", optional: true }],
  flags: rangeFlags,
  examples: [
    { line: "acode evidence failures --since 2h", note: "what went wrong lately" },
    { line: "acode evidence failures run_command --json", note: "for a script" },
  ],
  run: async ({ arguments: [tool], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const name = tool === undefined ? null : await canonicalToolName(tool)
    return printEvidence((await app.listed())?.evidence.failures(name, range) ?? [], context)
  },
})

export const evidenceFixes = defineCommand({
  name: "evidence fixes",
  summary: "list successful changes of a file after a diagnostic of this code, oldest first",
  description: "Lists what followed in time. It does not claim that a change fixed the problem.",
  arguments: [{ name: "CODE", summary: "such as TS2322 or E301" }],
  flags: rangeFlags,
  examples: [{ line: "acode evidence fixes TS2322 --json", note: "for a script" }],
  run: async ({ arguments: [code = ""], flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const found = (await app.listed())?.evidence.fixes(code, range, codeBehind(code)) ?? []
    return printRows(
      found.map(fix => ({ id: fix.fixId, ...fix })),
      ({ diagnosticId, fixId, file, tool, temporalGapMs }) =>
        `${shortId(diagnosticId)} → ${shortId(fixId)}  after ${durationText(temporalGapMs)}` +
        `  ${oneLine(tool, 30)}  ${oneLine(shownPath(file), 100)}`,
      context,
    )
  },
})

export const evidenceLatest = defineCommand({
  name: "evidence latest",
  summary: "show the last call that read or changed a path",
  arguments: [{ name: "PATH", summary: "relative to the workspace, or absolute" }],
  flags: {},
  examples: [{ line: "acode evidence latest src/email.ts --json", note: "an array of one, or of none" }],
  run: async ({ arguments: [path = ""] }, context) => {
    const app = await context.service()
    const found = (await app.listed())?.evidence.latest(app.recordedPath(path)) ?? null
    return printEvidence(found === null ? [] : [found], context)
  },
})

export const evidenceRecurring = defineCommand({
  name: "evidence recurring",
  summary: "list diagnostics that occurred again, most frequent first",
  arguments: [],
  flags: {
    threshold: limitFlag("minimum number of occurrences (2)"),
    ...rangeFlags,
  },
  examples: [{ line: "acode evidence recurring --threshold 3 --since 1w", note: "what keeps coming back" }],
  run: async ({ flags }, context) => {
    const app = await context.service()
    const range = rangeOf(flags, app)
    const found = (await app.listed())?.evidence.recurring(flags.threshold ?? 2, range) ?? []
    return printRows(
      found.map(diagnostic => ({ id: diagnostic.code, ...diagnostic })),
      ({ code, count, firstSeen, lastSeen }) =>
        `${String(count).padStart(5)} × ${oneLine(code, 40)}  ${firstSeen} to ${lastSeen}`,
      context,
    )
  },
})

export const evidenceShow = defineCommand({
  name: "evidence show",
  summary: "show one call: its arguments, outcome and result",
  arguments: [{ name: "ID", id: "evidence", summary: "the id, its beginning or its last characters" }],
  flags: {},
  examples: [
    { line: "acode evidence show 3f2a91bc", note: "by the id that the other queries show" },
    { line: "acode evidence show 3f2a91bc --json", note: "with everything it gave back" },
  ],
  run: async ({ arguments: [typed = ""] }, context) => {
    const app = await context.service()
    const id = await app.idOf(typed, "evidence")
    const found = (await app.evidence())?.show(id) ?? null
    if (found === null) throw unknownId(id, "evidence")
    if (context.globals.json) context.output.json(found)
    print(found, context)
    return 0
  },
})

function print(found: EvidenceDetails, { output }: CliContext): void {
  const { status, certainty, durationMs, planId, taskId, stepId, errorCode, errorMessage } = found
  const rows: [string, string | null][] = [
    ["id", found.id],
    ["session", found.sessionId],
    ["tool", found.tool],
    ["status", certainty === null ? status : `${status}, its effect ${certaintyText[certainty]}`],
    ["at", found.at],
    ["took", durationMs === null ? null : durationText(durationMs)],
    ["exit code", found.exitCode === null ? null : String(found.exitCode)],
    ["error", errorCode === null ? null : `${errorCode}: ${errorMessage ?? ""}`],
    ["plan", planId],
    ["step", stepId === null ? null : `${taskId ?? "-"} ${stepId}`],
    ["digest", found.resultDigest],
    ["paths", found.paths.length === 0 ? null : found.paths.map(shownPath).join(", ")],
    ["arguments", JSON.stringify(found.arguments)],
    ...found.artifacts.map(({ kind, content }): [string, string] => [kind, JSON.stringify(content)]),
  ]
  const shown = rows.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  const width = Math.max(...shown.map(([name]) => name.length))
  for (const [name, value] of shown) output.line(`${name.padEnd(width)}  ${oneLine(value, 500)}`)
}

/** Returns the tool name under which evidence is recorded, for a typed name or alias. */
async function canonicalToolName(typed: string): Promise<string> {
  // Loaded only here: it imports all tools.
  const { resolveTool } = await import("../../../tools/aliases.ts")
  const resolved = resolveTool(typed)
  // A call of an unknown tool is recorded under the name that the model wrote.
  return resolved.kind === "tool" ? resolved.tool.name : typed
}
