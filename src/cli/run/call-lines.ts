import type { Json } from "../../base/canonical.ts"
import { shownPath } from "../../base/path-names.ts"
import { counted, oneLine } from "../../base/text.ts"
import type { ToolCallSettled } from "../../domain/events/call-events.ts"
import type { NewEvent } from "../../domain/events/definition.ts"
import type { RecordedText } from "../../domain/events/recorded-text.ts"
import type { RecordedJson } from "../../domain/tool-call.ts"
import type { Paint } from "../output.ts"
import { shortId } from "../render/format.ts"

type Settled = NewEvent<typeof ToolCallSettled>["data"]

const linesMax = 20
const columnsMax = 200
const pathsMax = 5

/** Summarises the arguments of a call: the file, the command, the pattern. */
export function subjectText(args: RecordedJson): string {
  if (args.kind === "artifact") return `(${args.bytes} bytes)`
  // as: the schema's JSON differs from ours only in that nothing in it is read-only.
  const value = args.value as Json
  const named = ["path", "file", "argv", "command", "paths", "pattern", "name"]
    .map(name => memberOf(value, name))
    .find(member => member !== undefined)
  if (named === undefined) return ""
  return oneLine(Array.isArray(named) ? named.join(" ") : String(named), 80)
}

/** Describes how a call ended: its outcome, what it changed, and its error. */
export function resultLines(settled: Settled, paint: Paint, isVerbose: boolean): readonly string[] {
  const { outcome, exitCode, error, text, result, executionId } = settled
  const exit = exitCode === null ? "" : `, exit ${exitCode}`
  const word = outcome === "succeeded" ? paint.green(outcome) : paint.red(outcome)
  // as: the schema's JSON differs from ours only in that nothing in it is read-only.
  const recorded = result?.kind === "inline" ? (result.value as Json) : null
  const why = error === null ? "" : ` — ${error.code}: ${oneLine(error.message, 300)}`
  return [
    `  [result] ${word}${exit}${changesText(settled)}${why}`,
    ...quarantineLines(recorded, executionId),
    ...(isVerbose && text !== null ? textLines(text, paint) : []),
  ]
}

/** Lists files that a command created under protected names and that were moved to quarantine. */
export function quarantineLines(result: Json, executionId: string | null): readonly string[] {
  const names = memberOf(result, "quarantined")
  if (!Array.isArray(names)) return []
  const where = executionId === null ? "" : `; \`acode runs show ${shortId(executionId)}\` says where`
  const shown = oneLine(names.map(each => shownPath(String(each))).join(", "), 400)
  return [`  ⚠ moved to quarantine, protected: ${shown}${where}`]
}

/** Returns the first lines of a text, without control characters. */
export function textLines(text: RecordedText, paint: Paint): readonly string[] {
  if (text.kind === "omitted") return []
  if (text.kind === "artifact") return [paint.dim(`    (${text.bytes} bytes, ${text.ref})`)]
  const lines = text.text.trimEnd().split("\n")
  if (lines.length === 1 && lines[0] === "") return []
  const shown = lines.slice(0, linesMax).map(line => paint.dim(`    ${oneLine(line, columnsMax)}`))
  return lines.length <= linesMax
    ? shown
    : [...shown, paint.dim(`    … ${counted(lines.length - linesMax, "more line")}`)]
}

function changesText({ changes }: Settled): string {
  if (changes.kind === "artifact") return `, ${counted(changes.count, "file")} changed`
  const paths = changes.value.map(({ path }) => shownPath(path))
  if (paths.length === 0) return ""
  const more = paths.length > pathsMax ? ` and ${paths.length - pathsMax} more` : ""
  return `, changed ${paths.slice(0, pathsMax).join(", ")}${more}`
}

function memberOf(value: Json, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  return Object.entries(value).find(([key]) => key === name)?.[1]
}
