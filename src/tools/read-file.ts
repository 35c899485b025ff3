import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { counted } from "../base/text.ts"
import { stepActions } from "../domain/plan/tool-traits.ts"
import type { FileLines } from "../workspace/contract.ts"
import type { Tool, ToolDeps } from "./contract.ts"
import { callPath, pathEffects } from "./path-effects.ts"
import { preparedRead, toolResult } from "./tool-result.ts"

const Arguments = lazily(() =>
  z.strictObject({
    path: z.string().check(z.minLength(1)),
    from_line: z.optional(z.int().check(z.minimum(1))),
    line_count: z.optional(z.int().check(z.minimum(1))),
  }),
)

export const readFileTool: Tool = {
  name: "read_file",
  description:
    "Reads a text file, all of it or line_count lines from from_line on (counted from 1). Secrets are shown as " +
    "[REDACTED:kind]; leave such lines exactly as they are when you write the file.",
  schema: Arguments,
  required: ["path"],
  kind: "read",
  aliases: { file_read: { path: "path" } },
  actions: stepActions,
  declare: (json, deps) => {
    const args = Arguments().parse(json)
    const path = callPath(deps.workspace, args.path)
    return {
      effects: pathEffects(deps.workspace, path, "read"),
      effectClass: "read",
      network: null,
      operation: `read ${path.relative}`,
      prepare: async () =>
        preparedRead(`read ${path.relative}`, async () =>
          read(deps, args.path, args.from_line ?? 1, args.line_count ?? Number.MAX_SAFE_INTEGER),
        ),
    }
  },
}

async function read(deps: ToolDeps, path: string, fromLine: number, lineCount: number) {
  const bytesMax = deps.limits.editBytesMax
  const lines = await deps.workspace.readLongLines(path, { fromLine, lineCount, bytesMax })
  const content = await redactedLines(deps, path, lines)
  const last = fromLine + Math.max(0, lines.lineCount - 1)
  const range =
    lines.lineCount === lines.totalLines && !lines.truncated
      ? counted(lines.totalLines, "line")
      : `lines ${fromLine}-${last} of ${lines.totalLines}${lines.truncated ? ", cut off" : ""}`
  const result = {
    value: {
      path: lines.path,
      content,
      from_line: fromLine,
      line_count: lines.lineCount,
      total_lines: lines.totalLines,
      truncated: lines.truncated,
      encoding: lines.encoding,
      sha256: lines.sha256,
    },
    text: `${lines.path} (${range}):\n${content}`,
    paths: [lines.path],
  }
  return toolResult(deps, result, true)
}

/** The longest key block in lines. */
const contextLines = 256
const contextBytes = 64 * 1024

/**
 * Returns the lines redacted. It reads the lines before them as well, because only the first line of a key identifies
 * it and a range may start in the middle of a key.
 */
async function redactedLines(deps: ToolDeps, path: string, lines: FileLines): Promise<string> {
  const before = Math.min(contextLines, lines.fromLine - 1)
  if (before === 0) return deps.redactor.redactText(lines.text)
  const fromLine = lines.fromLine - before
  const range = { fromLine, lineCount: before, bytesMax: contextBytes }
  const context = await deps.workspace.readLongLines(path, range)
  // Lines that long belong to no key.
  if (context.truncated || context.sha256 !== lines.sha256) return deps.redactor.redactText(lines.text)
  const whole = context.text + lines.text
  let at = context.text.length
  let shown = ""
  for (const { start, end, replacement } of deps.redactor.redactSpans(whole)) {
    if (end <= at) continue
    shown += whole.slice(at, Math.max(at, start)) + replacement
    at = end
  }
  return shown + whole.slice(at)
}
