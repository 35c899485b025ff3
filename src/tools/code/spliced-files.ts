import { quotedPath, shownPath } from "../../base/path-names.ts"
import { byteOrderMark } from "../../base/text.ts"
import type { Splice } from "../../code/contract.ts"
import { type CodeSymbol, qualifiedName, type SymbolKind } from "../../domain/code/symbol.ts"
import type { Effect } from "../../domain/effect.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { Failure } from "../../domain/failure.ts"
import type { PreparedCall, ToolDeps } from "../contract.ts"
import { changePreview, isNoChange, type PlannedChange, preparedChanges } from "../file-changes.ts"
import { textState } from "../file-state.ts"
import { callPath, pathEffects, writeEffects } from "../path-effects.ts"
import { hasMarker, reinserted } from "../reinsertion.ts"
import { toolResult } from "../tool-result.ts"

/** One symbol to replace, by the content of a file. */
export interface SpliceStep {
  readonly file: string
  readonly symbol: string
  /** The file that holds the new definition. */
  readonly with: string
  readonly kind?: SymbolKind | undefined
}

export function spliceEffects({ workspace }: ToolDeps, step: SpliceStep): Effect[] {
  const file = callPath(workspace, step.file)
  return [
    ...pathEffects(workspace, callPath(workspace, step.with), "read"),
    ...pathEffects(workspace, file, "read"),
    ...writeEffects(workspace, file),
  ]
}

/** A file with all of its replacements, which are not made yet. */
interface SplicedFile {
  readonly typed: string
  readonly path: string
  readonly sha256: string
  readonly before: Uint8Array
  after: Uint8Array
}

interface SplicedSymbol {
  readonly file: string
  readonly symbol: CodeSymbol
}

/** Computes all replacements before it returns the call that makes them: one problem, and no file is changed. */
export async function preparedSplices(
  deps: ToolDeps,
  steps: readonly SpliceStep[],
  readPaths: readonly string[],
): Promise<PreparedCall> {
  const files = new Map<string, SplicedFile>()
  const spliced: SplicedSymbol[] = []
  for (const [index, step] of steps.entries()) {
    const { relative } = callPath(deps.workspace, step.file)
    const file = files.get(relative) ?? opened(deps, step.file)
    files.set(relative, file)
    const where = steps.length === 1 ? "" : `splice ${index + 1} of ${steps.length}: `
    const result = await spliceOnce(deps, step, file, where)
    file.after = result.bytes
    spliced.push({ file: file.path, symbol: result.symbol })
  }
  const planned = [...files.values()].map(file => plannedChange(deps, file))
  return preparedChanges(deps.workspace, planned, changes => {
    const text = spliced.map(splicedText).join("\n")
    return toolResult(deps, {
      value: {
        changed_files: changes.map(({ path }) => path),
        stdout: text,
        symbols: spliced.map(({ file, symbol: { name, kind, container, lineStart, lineEnd } }) => ({
          file,
          name,
          kind,
          container,
          line_start: lineStart,
          line_end: lineEnd,
        })),
      },
      text: changes.length === 0 ? `${text}\nunchanged: every symbol already had this definition` : text,
      paths: [...new Set([...files.keys(), ...readPaths])],
      changes,
    })
  })
}

function opened(deps: ToolDeps, typed: string): SplicedFile {
  const { bytes, sha256, path } = deps.workspace.readBytes(typed, deps.limits.editBytesMax)
  return { typed, path, sha256, before: bytes, after: bytes }
}

async function spliceOnce(
  deps: ToolDeps,
  step: SpliceStep,
  file: SplicedFile,
  where: string,
): Promise<Extract<Splice, { kind: "spliced" }>> {
  const { symbol, kind = null } = step
  const replacement = newDefinition(deps, step, file)
  const result = await deps.splice({ path: file.path, bytes: file.after, symbol, kind, replacement })
  if (result.kind === "spliced") return result
  throw refusal(where, file.path, step, result)
}

/** Reads the new definition, with the secrets of the file where its author saw markers. */
function newDefinition(deps: ToolDeps, step: SpliceStep, file: SplicedFile): string {
  const { text, format } = deps.workspace.readText(step.with, deps.limits.editBytesMax)
  if (format.encoding === "latin1")
    throw new Failure({
      kind: "general",
      code: "ACODE-FS-009",
      message: `${quotedPath(step.with)} is not UTF-8`,
      where: shownPath(step.with),
      hint: "write the new definition as UTF-8",
    })
  if (!hasMarker(text)) return text
  return reinserted(step.with, textState(deps, file.typed).text.shown, text)
}

function plannedChange(deps: ToolDeps, { path, sha256, before, after }: SplicedFile): PlannedChange {
  const change = { path, before: sha256, after, undo: before }
  const remark = isNoChange(change) ? "unchanged" : null
  return {
    ...change,
    preview: isWhole =>
      changePreview(deps, { path, before: textOf(before), after: textOf(after), remark }, isWhole),
  }
}

/** Files with symbols are UTF-8. */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text
}

function splicedText({ file, symbol }: SplicedSymbol): string {
  const { kind, lineStart, lineEnd } = symbol
  return `${shownPath(file)}: replaced the ${kind} ${qualifiedName(symbol)}, now lines ${lineStart}-${lineEnd}`
}

/** The most places that a message lists. */
const placesMax = 20

function refusal(
  where: string,
  path: string,
  { symbol, kind }: SpliceStep,
  problem: Exclude<Splice, { kind: "spliced" }>,
): Failure {
  const named = `${kind ?? "symbol"} ${symbol}`
  const failure = (code: ErrorCode, message: string, hint: string) =>
    new Failure({ kind: "general", code, message: `${where}${message}`, where: shownPath(path), hint })
  switch (problem.kind) {
    case "unparsed":
      return failure(
        "ACODE-CODE-001",
        `${quotedPath(path)} has no symbols: ${problem.reason}`,
        "change it with modify_file",
      )
    case "missing": {
      const others = problem.others.length === 0 ? "" : `; there is ${placesOf(path, problem.others)}`
      return failure(
        "E104",
        `${quotedPath(path)} defines no ${named}${others}`,
        "`acode symbols FILE` lists the symbols of a file",
      )
    }
    case "ambiguous":
      return failure(
        "ACODE-PAT-004",
        `${quotedPath(path)} defines more than one ${named}: ${placesOf(path, problem.symbols)}`,
        "name it as Container.name, add its kind, or use modify_file",
      )
    case "broken":
      return failure(
        "ACODE-CODE-002",
        `${quotedPath(path)} was not changed: ${problem.reason}`,
        "correct the new definition: one whole definition of the same name and kind",
      )
  }
}

function placesOf(path: string, symbols: readonly CodeSymbol[]): string {
  const shown = symbols
    .slice(0, placesMax)
    .map(symbol => `${symbol.kind} ${qualifiedName(symbol)} at ${shownPath(path)}:${symbol.lineStart}`)
  const more = symbols.length > shown.length ? [`${symbols.length - shown.length} more`] : []
  return [...shown, ...more].join(", ")
}
