import type { Json } from "../../base/canonical.ts"
import { shownPath } from "../../base/path-names.ts"
import { counted, oneLine } from "../../base/text.ts"
import { qualifiedName, type ReferenceRow, type SymbolRow } from "../../domain/code/symbol.ts"
import type { CodeAnswer, ToolDeps, ToolResult } from "../contract.ts"
import { toolResult } from "../tool-result.ts"

/** Returns symbols as the result of a tool. */
export function symbolResult(deps: ToolDeps, path: string, answer: CodeAnswer<SymbolRow>): ToolResult {
  const { rows } = answer
  return codeResult(deps, answer, [path], {
    value: { symbols: rows.map(row => ({ ...row })) },
    lines: rows.map(symbolText),
    none: "(the file defines no symbol)",
  })
}

function symbolText(row: SymbolRow): string {
  const { line_start, line_end, kind, signature } = row
  return `${line_start}-${line_end} ${kind} ${oneLine(qualifiedName(row), 200)}: ${signature}`
}

/** Returns the places of a name as the result of a tool. */
export function referenceResult(deps: ToolDeps, where: string, answer: CodeAnswer<ReferenceRow>): ToolResult {
  const { rows } = answer
  const { matchesMax } = deps.limits
  const shown = rows.slice(0, matchesMax)
  const lines = [...Map.groupBy(shown, row => row.from_file_path)].map(
    ([path, inFile]) => `${shownPath(path)}: ${inFile.map(({ line }) => line).join(", ")}`,
  )
  const more = rows.length > shown.length ? [`[${counted(rows.length - shown.length, "more place")}]`] : []
  return codeResult(deps, answer, [...new Set([where, ...shown.map(row => row.from_file_path)])], {
    value: { references: shown.map(row => ({ ...row })), truncated: rows.length > shown.length },
    lines: [...lines, ...more],
    none: "(no place has this name)",
  })
}

interface CodeView {
  readonly value: { readonly [name: string]: Json }
  readonly lines: readonly string[]
  readonly none: string
}

function codeResult(
  deps: ToolDeps,
  { stale, missingFiles }: CodeAnswer<unknown>,
  paths: readonly string[],
  { value, lines, none }: CodeView,
): ToolResult {
  const late = stale ? [`[${counted(missingFiles, "changed file")} not parsed yet: there may be more]`] : []
  return toolResult(deps, {
    value: { ...value, stale, missing_files: missingFiles },
    text: [lines.join("\n") || none, ...late].join("\n"),
    paths,
  })
}
