import { pathFromBytes } from "../../base/path-bytes.ts"
import type { RunProgram, SearchRow } from "../contract.ts"
import { type FoundRows, rowLengthMax, type SearchScope } from "./scope.ts"

const stdoutBytesMax = 16 * 1024 * 1024

/** Null when ripgrep could not do it, for whatever reason: there is another engine. */
export async function searchWithRipgrep(
  scope: SearchScope,
  { program, run }: { readonly program: string; readonly run: RunProgram },
): Promise<FoundRows | null> {
  const { exitCode, stdout, truncated } = await run([program, ...ripgrepArguments(scope)], {
    cwd: scope.root.path,
    stdoutBytesMax,
    timeoutMs: scope.timeoutMs,
  })
  const failed = exitCode !== 0 && exitCode !== 1
  if (failed && stdout.length === 0) return null
  const rows: SearchRow[] = []
  for (const line of Buffer.from(stdout).toString("utf8").split("\n")) {
    const row = rowOf(line)
    if (row !== null && scope.accepts(row.file_path)) rows.push(row)
  }
  return { rows, truncated: truncated || failed }
}

/**
 * The pattern is glued to its option and paths come after `--` with `./` in front: neither can become an option, and
 * `--pre` would run a program. A configuration file could hold one too, so none is read. Globs are applied to the
 * rows, because to ripgrep they would bring back ignored files. No file is too large: ripgrep would leave it out
 * without a word, while running out of time is told.
 */
function ripgrepArguments({ pattern, start }: SearchScope): string[] {
  return [
    "--no-config",
    "--json",
    "--hidden",
    "--no-messages",
    "--no-follow",
    "--no-ignore-global",
    "--no-ignore-dot",
    "--sort=path",
    "--glob=!.git",
    "--glob=!.agent",
    `--regexp=${pattern}`,
    "--",
    start === "." ? "./" : `./${start}`,
  ]
}

/** Null for the messages that are no match, and for a last one that was cut. */
function rowOf(line: string): SearchRow | null {
  const message = parse(line)
  if (!isRecord(message) || message["type"] !== "match" || !isRecord(message["data"])) return null
  const { path, lines, line_number } = message["data"]
  const file = textOf(path, pathFromBytes)
  const text = textOf(lines, bytes => Buffer.from(bytes).toString("latin1"))
  if (file === null || text === null || typeof line_number !== "number") return null
  const shown = text.replace(/\r?\n$/, "").slice(0, rowLengthMax)
  return { file_path: file.replace(/^(\.\/+)+/, ""), line_number, line: shown }
}

/** A name or a line that is not UTF-8 comes as base64 of its bytes. */
function textOf(value: unknown, decode: (bytes: Uint8Array) => string): string | null {
  if (!isRecord(value)) return null
  if (typeof value["text"] === "string") return value["text"]
  return typeof value["bytes"] === "string" ? decode(Buffer.from(value["bytes"], "base64")) : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The output was cut in the middle of a message, which `truncated` tells.
    return null
  }
}
