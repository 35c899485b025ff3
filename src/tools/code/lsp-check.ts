import { posix } from "node:path"
import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { shownPath } from "../../base/path-names.ts"
import { counted, oneLine, shellQuoted } from "../../base/text.ts"
import type { CheckCommand, CheckOutput, Checks, PrintedDiagnostic } from "../../code/contract.ts"
import { checkerNames } from "../../domain/code/checker-names.ts"
import type { CommandResult, ExecutionRecord } from "../../domain/command-result.ts"
import { Failure } from "../../domain/failure.ts"
import { stepActions } from "../../domain/plan/tool-traits.ts"
import type { CallError, Diagnostic } from "../../domain/tool-call.ts"
import { commandError, declareCommand } from "../command-call.ts"
import type { Tool, ToolDeps, ToolResult } from "../contract.ts"
import { type CallPath, callPath, pathEffects } from "../path-effects.ts"
import { toolResult } from "../tool-result.ts"
import { checksAt } from "./project-checks.ts"

const Arguments = lazily(() =>
  z.strictObject({ path: z.string().check(z.minLength(1)), checker: z.optional(z.enum(checkerNames)) }),
)

export const lspCheckTool: Tool = {
  name: "lsp_check",
  description:
    "Runs the project's own compiler or type checker on a file or directory, such as tsc, cargo, mypy or go, and lists " +
    "its errors and warnings. checker selects one where several fit. It reaches no network.",
  schema: Arguments,
  required: ["path"],
  kind: "run",
  aliases: {},
  actions: stepActions.filter(action => action !== "READ_FILE" && action !== "ANALYZE_CODE"),
  needsIndex: true,
  declare: (json, deps) => {
    const { path: typed, checker } = Arguments().parse(json)
    const path = callPath(deps.workspace, typed)
    const own = pathEffects(deps.workspace, path, path.kind === "directory" ? "list" : "read")
    const operation = `check ${path.relative}`
    const checks = checksAt(deps.workspace, deps.checks, path.relative, path.kind === "directory")
    const command =
      checker === undefined ? checks.commands[0] : checks.commands.find(each => each.checker === checker)
    if (command === undefined) {
      const problem = path.kind === "missing" ? missingPath(path) : noChecker(path, checker, checks)
      return {
        effects: own,
        effectClass: "read",
        network: null,
        operation,
        prepare: () => Promise.reject(problem),
      }
    }
    const shown = command.argv.map(shellQuoted).join(" ")
    const { argv, cwd } = command
    const environment = { ...english, ...command.environment }
    const { timeoutMs } = deps.checks
    const call = declareCommand(
      deps,
      { argv, cwd, environment, timeoutMs, shown, network: "none", hosts: null },
      (_, record) => checkResult(deps, { path: path.relative, command, checks }, record),
    )
    return { ...call, effects: [...call.effects, ...own], operation: `${operation}: run ${shown}` }
  },
}

/** Readers of output know the English words for errors and warnings alone. */
const english = { LC_ALL: "C.UTF-8" }

function missingPath({ typed }: CallPath): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-FS-002",
    message: `${shownPath(typed)} does not exist`,
    where: shownPath(typed),
    hint: "name an existing file or directory",
  })
}

function noChecker({ relative }: CallPath, checker: string | undefined, { missing }: Checks): Failure {
  const reasons = checker === undefined ? missing : missing.filter(reason => reason.includes(`${checker} `))
  const asked = checker === undefined ? "no checker" : checker
  const why = reasons.length === 0 ? `acode knows ${asked} for it` : reasons.join("; ")
  return new Failure({
    kind: "general",
    code: "E303",
    message: `${shownPath(relative)} was not checked: ${checker === undefined || reasons.length > 0 ? why : `${checker} is not for it`}`,
    where: shownPath(relative),
    hint: "install the checker, or name a command in code.checkers",
  })
}

interface DoneCheck {
  /** The path that was to be checked. */
  readonly path: string
  readonly command: CheckCommand
  readonly checks: Checks
}

function checkResult(deps: ToolDeps, done: DoneCheck, { id, result }: ExecutionRecord): ToolResult {
  const { path, command, checks } = done
  const output = deps.checks.checkers.readOutput(command.checker, [result.stdout, result.stderr])
  const rows = output.diagnostics.map(each => diagnosticAt(deps.workspace.path, command.cwd, each))
  const error = checkError(done, result, output)
  const others = checks.commands.flatMap(({ checker }) => (checker === command.checker ? [] : [checker]))
  const files = rows.flatMap(({ file_name }) => (file_name === "" ? [] : [file_name]))
  return toolResult(deps, {
    value: {
      checker: command.checker,
      command: [...command.argv],
      cwd: command.cwd,
      exit_code: result.exitCode,
      ending: result.ending,
      success: error === null,
      errors: output.errors,
      warnings: output.warnings,
      diagnostics: rows.map(row => ({ ...row })),
      unread_lines: output.unreadLines.length,
      unread: output.unreadLines.slice(0, unreadMax),
      truncated: result.truncation !== null,
      not_run: [...others, ...checks.missing],
    },
    text: textOf(done, result, output, rows, error, others),
    error,
    exitCode: result.exitCode,
    executionId: id,
    paths: [...new Set([path, ...files])],
    diagnostics: [...rows, ...(error === null ? [] : [diagnosticOf(error, path)])],
  })
}

/** The most lines without a meaning that a result holds; all of them are in the output of the command. */
const unreadMax = 50

/** A program that could not be started is missing here; one that failed without an error has checked nothing. */
function checkError(
  { path, command }: DoneCheck,
  result: CommandResult,
  output: CheckOutput,
): CallError | null {
  const where = shownPath(path)
  const failed = commandError(result)
  if (failed !== null && notStarted.has(failed.code))
    return {
      code: "E303",
      where,
      hint: failed.hint,
      message: `${where} was not checked: ${command.checker} cannot run: ${failed.message}`,
    }
  if (result.error !== null) return failed
  if (output.errors > 0)
    return {
      code: "E304",
      where,
      hint: "correct the errors and check again",
      message: `${command.checker} found ${counted(output.errors, "error")}`,
    }
  if (failed === null) return null
  return {
    code: "ACODE-EXE-003",
    where,
    hint: "its output says why",
    message: `${command.checker} failed with exit code ${result.exitCode} and named no error: nothing is known`,
  }
}

const notStarted: ReadonlySet<string> = new Set(["ACODE-EXE-001", "ACODE-EXE-005", "ACODE-EXE-011"])

/** Returns a diagnostic of a file of the workspace; the path of any other file stays in the message. */
function diagnosticAt(root: string, cwd: string, printed: PrintedDiagnostic): Diagnostic {
  const { level, message, file, line, column, code } = printed
  const absolute = posix.resolve(root, cwd, file)
  const isInside = file !== "" && absolute.startsWith(root === "/" ? "/" : `${root}/`)
  const isElsewhere = file !== "" && !isInside
  return {
    level,
    message: isElsewhere ? oneLine(`${file}:${line}: ${message}`, messageLengthMax) : message,
    file_name: isInside ? posix.relative(root, absolute) : "",
    line_start: isInside ? line : 0,
    ...(isInside && column !== null ? { column } : {}),
    code,
  }
}

const messageLengthMax = 1000

function diagnosticOf({ code, message }: CallError, path: string): Diagnostic {
  return { level: "error", message, file_name: path, line_start: 0, code }
}

/** The most diagnostics that a model is shown. */
const shownMax = 100

function textOf(
  { command: { checker }, checks }: DoneCheck,
  result: CommandResult,
  output: CheckOutput,
  rows: readonly Diagnostic[],
  error: CallError | null,
  others: readonly string[],
): string {
  const { errors, warnings, unreadLines } = output
  const found = `${counted(errors, "error")}, ${counted(warnings, "warning")}`
  const isKnown = error === null || error.code === "E304"
  const lines = [isKnown ? `${checker}: ${found}` : `${error.message} (${error.code})`]
  lines.push(...rows.slice(0, shownMax).map(rowText))
  if (rows.length > shownMax) lines.push(`[${counted(rows.length - shownMax, "more message")}]`)
  if (result.truncation !== null) lines.push("[the output was cut: there may be more]")
  if (unreadLines.length > 0) {
    lines.push(`[${counted(unreadLines.length, "line")} of the output could not be read:]`)
    lines.push(...unreadLines.slice(0, unreadMax))
  }
  if (others.length > 0) lines.push(`[not run: ${others.join(", ")}; name one as checker]`)
  for (const reason of checks.missing) lines.push(`[not checked: ${reason}]`)
  return lines.join("\n")
}

function rowText({ level, message, file_name, line_start, column, code }: Diagnostic): string {
  const place =
    file_name === ""
      ? ""
      : `${shownPath(file_name)}:${line_start}${column === undefined ? "" : `:${column}`}: `
  return `${place}${level}${code === null ? "" : ` ${code}`}: ${message}`
}
