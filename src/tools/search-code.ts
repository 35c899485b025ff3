import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { shownPath } from "../base/path-names.ts"
import { stepActions } from "../domain/plan/tool-traits.ts"
import type { SearchRow } from "../workspace/contract.ts"
import type { Tool, ToolDeps } from "./contract.ts"
import { isFailure } from "./file-state.ts"
import { callPath, pathEffects } from "./path-effects.ts"
import { type ShownLine, shownText } from "./shown-text.ts"
import { preparedRead, toolResult } from "./tool-result.ts"

const Arguments = lazily(() =>
  z.strictObject({
    pattern: z.string().check(z.minLength(1)),
    path: z.optional(z.string().check(z.minLength(1))),
    glob: z.optional(z.string().check(z.minLength(1))),
  }),
)

export const searchCodeTool: Tool = {
  name: "search_code",
  description:
    "Finds lines by a regular expression in the files below path (`.` when left out), or in one file. " +
    "glob restricts it to files with such names. Skips files that git ignores.",
  schema: Arguments,
  required: ["pattern"],
  kind: "find",
  aliases: { file_search: { pattern: "pattern", root: "path" } },
  actions: stepActions,
  declare: (json, deps) => {
    const args = Arguments().parse(json)
    const path = callPath(deps.workspace, args.path ?? ".")
    const operation = `search ${path.relative} for ${args.pattern}`
    return {
      effects: pathEffects(deps.workspace, path, "list", "read"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () => preparedRead(operation, () => search(deps, path.relative, args)),
    }
  },
}

async function search(deps: ToolDeps, where: string, args: z.infer<ReturnType<typeof Arguments>>) {
  const { matchesMax, searchTimeoutMs } = deps.limits
  const found = await deps.workspace.search({
    pattern: args.pattern,
    path: args.path ?? ".",
    ...(args.glob === undefined ? {} : { glob: args.glob }),
    matchesMax,
    timeoutMs: searchTimeoutMs,
  })
  const matches = redactedRows(deps, found.rows)
  const listed = matches.map(
    ({ file_path, line_number, line }) => `${shownPath(file_path)}:${line_number}: ${line}`,
  )
  const more = found.truncated ? "\n[there is more: make the pattern or the path narrower]" : ""
  return toolResult(deps, {
    value: { matches: matches.map(row => ({ ...row })), truncated: found.truncated },
    text: (listed.join("\n") || "(no line matches)") + more,
    paths: [...new Set([where, ...matches.map(row => row.file_path)])],
  })
}

/**
 * Returns the rows redacted. Only the lines around it show that a line belongs to a key. Lines are cut afterwards,
 * because half a secret is not recognised.
 */
function redactedRows(deps: ToolDeps, rows: readonly SearchRow[]): SearchRow[] {
  const hidden = new Map<string, KeyLines>()
  return rows.map(row => {
    const lines = hidden.get(row.file_path) ?? keyLines(deps, row.file_path)
    hidden.set(row.file_path, lines)
    const line =
      lines === "unknown" ? notJudged : (lines.get(row.line_number) ?? deps.redactor.redactText(row.line))
    return { file_path: row.file_path, line_number: row.line_number, line: cut(line) }
  })
}

/** The most characters of a line that are shown. */
const shownLengthMax = 500

function cut(line: string): string {
  const kept = line.slice(0, shownLengthMax)
  return kept.isWellFormed() || !line.isWellFormed() ? kept : kept.slice(0, -1)
}

const notJudged = "[not shown: the file is too large, or its name too unusual, to be checked for secrets]"

/** The lines of a file that belong to secrets of several lines, each with its replacement. */
type KeyLines = ReadonlyMap<number, string> | "unknown"

function keyLines(deps: ToolDeps, path: string): KeyLines {
  const found = new Map<number, string>()
  const shown = shownLines(deps, path)
  if (shown === null) return "unknown"
  for (const { line, shown: text, original } of shown) {
    const count = original?.split("\n").length ?? 1
    if (count > 1) for (let at = line; at < line + count; at++) found.set(at, text)
  }
  return found
}

/** Returns null where the file is too large for that, or has a name that paths may not have. */
function shownLines({ workspace, redactor, limits }: ToolDeps, path: string): readonly ShownLine[] | null {
  try {
    const { text } = workspace.readText(path, limits.editBytesMax)
    return text.includes("-----BEGIN") ? shownText(text, redactor).lines : []
  } catch (error) {
    if (isFailure(error, "ACODE-FS-001", "ACODE-FS-006")) return null
    // A file that was removed or is not text after all: its lines are judged one by one.
    if (isFailure(error, "ACODE-FS-002", "ACODE-FS-009")) return []
    throw error
  }
}
