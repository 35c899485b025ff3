import { posix } from "node:path"
import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import type { CheckCommand, Checks } from "../../code/contract.ts"
import type { NewEvent } from "../../domain/events/definition.ts"
import type { CheckFinished } from "../../domain/events/pipeline-events.ts"
import { Failure } from "../../domain/failure.ts"
import type { PipelineState, PlannedCheck } from "../../domain/pipeline/state.ts"
import type { Criterion } from "../../domain/plan/plan.ts"
import type { SettledCall } from "../../gate/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import { type Project, projectTestsId } from "./project.ts"

export interface CheckParts {
  readonly state: PipelineState
  readonly workspace: Workspace
  readonly project: Project
  /** Runs a command through the gate, so that it is decided, confined and recorded like every other call. */
  readonly runCommand: (argv: readonly string[], check: PlannedCheck) => Promise<SettledCall>
  /** Runs one checker of a path through the gate. */
  readonly runChecker: (path: string, command: CheckCommand, check: PlannedCheck) => Promise<SettledCall>
}

/** The data of `check.finished`. */
export type FinishedCheck = NewEvent<typeof CheckFinished>["data"]

/**
 * Checks one criterion, on exactly the present tree. A check without a verdict is inconclusive and never passed. A
 * `judgement` is for a model to decide, not for this function.
 */
export async function runCheck(parts: CheckParts, check: PlannedCheck): Promise<FinishedCheck> {
  const treeDigest = (await parts.workspace.tree()).digest
  const criterion = criterionOf(parts.state, check)
  const finding = await findingOf(parts, criterion, check)
  const treeAfter = finding.argv === null ? treeDigest : (await parts.workspace.tree()).digest
  const isSameTree = treeAfter === treeDigest
  return {
    criterionId: check.id,
    taskId: check.taskId,
    kind: check.kind,
    ...finding,
    ...lookedPaths(parts.workspace, criterion),
    reason: isSameTree
      ? finding.reason
      : `${finding.reason}\n(files of the workspace were changed while it ran)`,
    treeDigest,
    ...(isSameTree ? {} : { treeAfter }),
  }
}

/** Returns the file of a criterion that checks one, and the name that leads to it. */
function lookedPaths(workspace: Workspace, criterion: Criterion | null): Pick<FinishedCheck, "paths"> {
  if (criterion?.kind !== "file_exists" && criterion?.kind !== "file_contains") return {}
  try {
    const { relative } = workspace.locate(criterion.path)
    return { paths: [...new Set([posix.normalize(criterion.path), relative])] }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return {}
  }
}

/** Returns the criterion of a check; null for the project's own tests, which no plan has. */
function criterionOf({ plans }: PipelineState, { id, taskId }: PlannedCheck): Criterion | null {
  const task = plans.at(-1)?.plan.tasks.find(each => each.id === taskId)
  return task?.acceptance.find(criterion => criterion.id === id) ?? null
}

type Finding = Omit<FinishedCheck, "criterionId" | "taskId" | "kind" | "treeDigest" | "treeAfter">

async function findingOf(
  parts: CheckParts,
  criterion: Criterion | null,
  check: PlannedCheck,
): Promise<Finding> {
  if (criterion === null) {
    const { test } = parts.project
    if (check.id === projectTestsId && check.taskId === null && test !== null)
      return commandFinding(parts, check, test, 0)
    return looked("inconclusive", "the plan does not contain this criterion any more")
  }
  switch (criterion.kind) {
    case "command":
      return commandFinding(parts, check, criterion.command, criterion.expect_exit)
    case "file_exists":
      return lookedAt(criterion.path, async () => exists(parts.workspace, criterion.path))
    case "file_contains":
      return lookedAt(criterion.path, () => contains(parts.workspace, criterion))
    case "diagnostics":
      return diagnostics(parts, check, criterion)
    case "judgement":
      return looked("inconclusive", "only a model can judge this")
  }
}

async function commandFinding(
  { runCommand }: CheckParts,
  check: PlannedCheck,
  argv: readonly string[],
  expectExit: number,
): Promise<Finding> {
  const { ended, exitCode, outputHash, executionId, told } = commandOutcome(await runCommand(argv, check))
  const run = { argv: [...argv], exitCode, outputHash, executionId }
  if (ended === "notRun") return { ...run, verdict: "inconclusive", reason: `it was not run: ${told}` }
  if (ended === "timedOut") return { ...run, verdict: "failed", reason: `it timed out\n${told}` }
  if (exitCode === expectExit) return { ...run, verdict: "passed", reason: `exit code ${exitCode}` }
  const wanted = expectExit === 0 ? "" : `, expected ${expectExit}`
  const how = exitCode === null ? "it was killed before it exited" : `exit code ${exitCode}${wanted}`
  return { ...run, verdict: "failed", reason: `${how}\n${told}` }
}

/** Runs the check that is configured, else the checkers that fit the path. */
async function diagnostics(parts: CheckParts, check: PlannedCheck, criterion: Diagnosed): Promise<Finding> {
  const argv = parts.project.check
  if (argv === null) return checkersFinding(parts, check, criterion)
  const finding = await commandFinding(parts, check, argv, 0)
  if (finding.verdict !== "failed" || criterion.max_errors === 0) return finding
  // A configured command shows whether there are problems, not how many.
  const reason = `there are problems, possibly more than ${criterion.max_errors}\n${finding.reason}`
  return { ...finding, verdict: "inconclusive", reason }
}

type Diagnosed = Extract<Criterion, { kind: "diagnostics" }>

/** Nothing is passed where some of the code could not be checked, or a checker did not say what it found. */
async function checkersFinding(
  parts: CheckParts,
  check: PlannedCheck,
  criterion: Diagnosed,
): Promise<Finding> {
  const { path, max_errors } = criterion
  const { commands, missing } = checksOf(parts, path)
  const unknown = missing.map(reason => `not checked: ${reason}`)
  const reports: string[] = []
  let errors = 0
  let last = looked("inconclusive", "")
  for (const command of commands) {
    const settled = await parts.runChecker(path, command, check)
    const { executionId, exitCode, value } = settled
    const found = numberIn(value, "errors")
    const isCounted = settled.outcome === "succeeded" || settled.error?.code === "E304"
    const outputHash = `sha256:${sha256Hex(canonicalJson(value))}`
    last = {
      ...last,
      ...(executionId === null ? {} : { argv: [...command.argv], executionId, exitCode, outputHash }),
    }
    if (!isCounted || found === null)
      unknown.push(`${command.checker} did not check: ${settled.error?.message ?? settled.outcome}`)
    else {
      errors += found
      reports.push(tail(settled.text, tailBytesMax))
    }
  }
  if (commands.length === 0 && unknown.length === 0)
    unknown.push("no checker fits it, and no check is configured: set commands.lint or commands.build")
  const reason = [...unknown, ...reports].join("\n")
  if (errors > max_errors) return { ...last, verdict: "failed", reason }
  return { ...last, verdict: unknown.length > 0 ? "inconclusive" : "passed", reason }
}

/** A path outside of the workspace has no checks. */
function checksOf({ project }: CheckParts, path: string): Checks {
  try {
    return project.checksOf(path)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { commands: [], missing: [error.report.message] }
  }
}

function numberIn(value: Json, key: string): number | null {
  const found = memberOf(value, key)
  return typeof found === "number" ? found : null
}

function exists(workspace: Workspace, path: string): Finding {
  const { kind } = workspace.locate(path)
  return kind === "missing" ? looked("failed", `${path} does not exist`) : looked("passed", `${path} exists`)
}

const searchTimeoutMs = 10_000
const patternLengthMax = 1000

/** Searches with the search of the workspace, whose patterns cannot run forever. */
async function contains(
  workspace: Workspace,
  { path, pattern }: { readonly path: string; readonly pattern: string },
): Promise<Finding> {
  if (pattern.length > patternLengthMax)
    return looked("inconclusive", `the pattern is longer than ${patternLengthMax} characters`)
  const { kind } = workspace.locate(path)
  if (kind === "missing") return looked("failed", `${path} does not exist`)
  const { rows, truncated } = await workspace.search({
    pattern,
    path,
    matchesMax: 1,
    timeoutMs: searchTimeoutMs,
  })
  const [row] = rows
  if (row !== undefined) return looked("passed", `line ${row.line_number} of ${row.file_path} matches`)
  return truncated
    ? looked("inconclusive", `${path} could not be searched completely`)
    : looked("failed", `no line of ${path} matches ${pattern}`)
}

/** Runs a check of a file. A path outside, an unreadable file or an invalid pattern makes it inconclusive. */
async function lookedAt(path: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return looked("inconclusive", `${path} cannot be checked: ${error.report.message}`)
  }
}

function looked(verdict: Finding["verdict"], reason: string): Finding {
  return { verdict, reason, argv: null, exitCode: null, outputHash: null, executionId: null }
}

/** The outcome of a command that checks something. */
interface CommandOutcome {
  /** `notRun` was refused, could not be started or was stopped by acode: it proves nothing about the work. */
  readonly ended: "exited" | "timedOut" | "notRun"
  /** Null if it did not exit by itself. */
  readonly exitCode: number | null
  /** The hash of its stored output; null if it was not run. */
  readonly outputHash: string | null
  readonly executionId: string | null
  /** The end of its output, or the reason why it was not run. Redacted and cut. */
  readonly told: string
}

/** Returns the outcome from the gate's record of a `run_command`. */
export function commandOutcome(settled: SettledCall): CommandOutcome {
  const { exitCode, executionId, error, value } = settled
  const ended = endingOf(settled)
  const why = error?.message ?? settled.outcome
  if (ended === "notRun") return { ended, exitCode, outputHash: null, executionId, told: why }
  const [stdout, stderr] = [textIn(value, "stdout"), textIn(value, "stderr")]
  return {
    ended,
    exitCode,
    executionId,
    outputHash: `sha256:${sha256Hex(canonicalJson([stdout, stderr]))}`,
    told: outputTail(stdout, stderr) || why,
  }
}

const timeoutCode = "ACODE-EXE-002"
/** Codes of endings that the command itself caused. */
const ownEndings = ["ACODE-EXE-003", "ACODE-EXE-004", "ACODE-EXE-012"]

function endingOf({ outcome, error, exitCode }: SettledCall): CommandOutcome["ended"] {
  if (outcome === "succeeded") return "exited"
  if (outcome !== "failed" || error === null) return "notRun"
  if (error.code === timeoutCode) return "timedOut"
  return exitCode !== null || ownEndings.includes(error.code) ? "exited" : "notRun"
}

const tailBytesMax = 2048

/** Returns the ends of both streams, where failures are reported; a short stream leaves its share to the other. */
function outputTail(stdout: string, stderr: string): string {
  const [out, err] = [plain(stdout), plain(stderr)]
  const half = tailBytesMax / 2
  const outShare = Math.max(half, tailBytesMax - Buffer.byteLength(err))
  const errShare = Math.max(half, tailBytesMax - Buffer.byteLength(out))
  return [tail(out, outShare), tail(err, errShare)].filter(part => part !== "").join("\n")
}

/** Removes colours and other terminal sequences, which are only noise to a reader. */
function plain(text: string): string {
  return text.replace(terminalOrders, "").trim()
}

const escapeSign = String.fromCharCode(0x1b)
const terminalOrders = new RegExp(
  `${escapeSign}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07${escapeSign}]*(?:\\x07|${escapeSign}\\\\)?|[@-Z\\\\^_])`,
  "g",
)

/** Returns the end of a text, in whole lines if possible. */
function tail(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  let start = bytes.length - (bytesMax - 4)
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  const cut = bytes.toString("utf8", start)
  const line = cut.indexOf("\n")
  return `…\n${line === -1 || line > cut.length / 2 ? cut : cut.slice(line + 1)}`
}

function textIn(value: Json, key: string): string {
  const found = memberOf(value, key)
  return typeof found === "string" ? found : ""
}

function memberOf(value: Json, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  return Object.entries(value).find(([name]) => name === key)?.[1]
}
