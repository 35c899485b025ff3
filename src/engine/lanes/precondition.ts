import type { Json } from "../../base/canonical.ts"
import { exactName } from "../../base/text.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { Failure } from "../../domain/failure.ts"
import type { ConcreteStep } from "../../domain/plan/plan.ts"
import type { CallError } from "../../domain/tool-call.ts"
import type { CodeQuestions } from "../../tools/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"

/** Files whose presence makes a directory a project. */
const projectFiles = [
  "package.json",
  "Cargo.toml",
  "go.mod",
  "pyproject.toml",
  "setup.py",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "CMakeLists.txt",
  "Makefile",
  "composer.json",
  "Gemfile",
  "mix.exs",
  "deno.json",
]

export interface PreconditionDeps {
  readonly workspace: Workspace
  readonly code: CodeQuestions
}

/**
 * Returns why a step cannot run; null if it can. Only inspects, and updates the code index where the condition is about
 * it: a change before the tool runs is for the tool to find.
 */
export async function unmetPrecondition(
  step: ConcreteStep,
  { workspace, code }: PreconditionDeps,
): Promise<CallError | null> {
  switch (step.precondition) {
    case "none":
      return null
    case "file_exists":
      return fileExists(step, workspace)
    case "root_exists":
      return rootExists(step, workspace)
    case "project_exists":
      return projectExists(workspace)
    case "index_exists":
      return indexExists(code)
    case "symbol_exists":
      return symbolExists(step, code)
  }
}

/** Any question shows whether there is an index, or one can be made. */
async function indexExists(code: CodeQuestions): Promise<CallError | null> {
  try {
    await code.symbolsNamed("index_exists", null)
    return null
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return unmet("E103", "index_exists", error.report.message, null)
  }
}

async function symbolExists(step: ConcreteStep, code: CodeQuestions): Promise<CallError | null> {
  const { symbol, name, file, path, kind } = step.arguments
  const typed = symbol ?? name
  const from = file ?? path ?? null
  if (typeof typed !== "string" || (from !== null && typeof from !== "string"))
    return unmet("E104", "symbol_exists", "the step names no symbol", null)
  try {
    const { rows } = await code.symbolsNamed(typed, from)
    if (rows.some(row => kind === undefined || row.kind === kind)) return null
    const where = from === null ? "the code index" : exactName(from)
    return unmet(
      "E104",
      "symbol_exists",
      `${where} has no ${String(kind ?? "symbol")} ${exactName(typed)}`,
      from,
    )
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const code = error.report.code === "E103" ? "E103" : "E104"
    return unmet(code, "symbol_exists", error.report.message, from)
  }
}

function fileExists(step: ConcreteStep, workspace: Workspace): CallError | null {
  const named = [step.arguments["path"], step.arguments["file"], ...listed(step.arguments["paths"])]
  const paths = named.filter(path => typeof path === "string")
  if (paths.length === 0) return unmet("E101", "file_exists", "the step names no file", null)
  const missing = paths.find(path => kindOf(workspace, path) !== "file")
  return missing === undefined
    ? null
    : unmet("E101", "file_exists", `the file ${missing} does not exist`, missing)
}

function rootExists(step: ConcreteStep, workspace: Workspace): CallError | null {
  const named = step.arguments["root"] ?? step.arguments["path"] ?? "."
  const root = typeof named === "string" ? named : "."
  if (kindOf(workspace, root) === "directory") return null
  return unmet("E101", "root_exists", `the directory ${root} does not exist`, root)
}

function projectExists(workspace: Workspace): CallError | null {
  if (projectFiles.some(name => kindOf(workspace, name) === "file")) return null
  return unmet("E102", "project_exists", `the workspace contains none of ${projectFiles.join(", ")}`, null)
}

function kindOf(workspace: Workspace, path: string): string {
  try {
    return workspace.locate(path).kind
  } catch (error) {
    // Outside or malformed: for this question the same as missing.
    if (error instanceof Failure) return "missing"
    throw error
  }
}

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function unmet(code: ErrorCode, name: string, reason: string, where: string | null): CallError {
  return {
    code,
    message: `the precondition ${name} does not hold: ${reason}`,
    where,
    hint: "bring the workspace into the state that the plan expects, or change the plan and approve it again",
  }
}
