import type * as z from "zod/mini"
import type { Json } from "../../base/canonical.ts"
import { oneLine, printable } from "../../base/text.ts"
import { Failure } from "../failure.ts"

export type PlanProblemCode = "E001" | "E201" | "E202"

/** One problem of a plan. Safe to print: control characters in what it quotes of the plan are escaped. */
export interface PlanProblem {
  readonly code: PlanProblemCode
  /** The location, as a JSON path: `$.tasks[0].steps[2].tool`. */
  readonly path: string
  /** A sentence about the value at that location. */
  readonly message: string
}

export type PlanPath = readonly (string | number)[]

/** A problem whose path is not formatted yet. */
export interface PlanFinding {
  readonly code: PlanProblemCode
  readonly path: PlanPath
  readonly message: string
}

/** Returns the problems in the order of their locations, so that a person can go through the file once. */
export function planProblems(findings: readonly PlanFinding[]): readonly PlanProblem[] {
  return findings
    .toSorted((a, b) => comparePaths(a.path, b.path))
    .map(({ code, path, message }) => ({ code, path: pathText(path), message }))
}

function comparePaths(a: PlanPath, b: PlanPath): number {
  for (const [index, mine] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    if (mine === other) continue
    if (typeof mine === "number" && typeof other === "number") return mine - other
    return String(mine) < String(other) ? -1 : 1
  }
  return a.length - b.length
}

export function pathText(path: PlanPath): string {
  const parts = path.map(part => {
    if (typeof part === "number") return `[${part}]`
    return /^[A-Za-z_]\w{0,63}$/.test(part) ? `.${part}` : `[${quoted(part)}]`
  })
  return `$${parts.join("")}`
}

/** Quotes text of a plan in a message: short, on one line and with escapes. */
export function quoted(text: string): string {
  return `"${oneLine(text, 80)}"`
}

/** Returns the failure of a command that needs a valid plan, with all problems in one message. */
export function planFailure(problems: readonly PlanProblem[], where: string): Failure {
  const lines = problems.map(problemText)
  const listed =
    lines.length === 1 ? ` ${lines.join("")}` : `\n${lines.map(line => `    ${line}`).join("\n")}`
  const isShapeWrong = problems.some(({ code }) => code === "E001")
  return new Failure({
    kind: "general",
    code: isShapeWrong ? "E001" : (problems[0]?.code ?? "E001"),
    message: `the plan is not valid:${listed}`,
    where: printable(where),
    hint: "fix the listed problems; `acode schema plan` describes the format",
  })
}

export function problemText({ path, message, code }: PlanProblem): string {
  return `${path}: ${message} (${code})`
}

type Issue = z.core.$ZodIssue

/**
 * Returns the schema problems as sentences. The schemas are built without messages, so their own text says nothing.
 */
export function shapeFindings(issues: readonly Issue[], value: Json, base: PlanPath = []): PlanFinding[] {
  return issues.flatMap(issue => {
    const path = [...base, ...issue.path.map(part => (typeof part === "number" ? part : String(part)))]
    if (issue.code === "unrecognized_keys")
      return issue.keys.map(key => finding([...path, key], "is an unknown property"))
    if (issue.code === "invalid_union" && issue.errors.length > 0) return stepFindings(issue, value, path)
    return [finding(path, valueAt(value, path) === undefined ? "is missing" : sentence(issue))]
  })
}

/** Checks a step against the form it resembles: problems of both forms would hide the mistake. */
function stepFindings(issue: z.core.$ZodIssueInvalidUnion, value: Json, path: PlanPath): PlanFinding[] {
  const step = valueAt(value, path)
  if (typeof step !== "object" || step === null || Array.isArray(step))
    return [finding(path, "must be an object")]
  const [isOpen, isConcrete] = [Object.hasOwn(step, "action"), Object.hasOwn(step, "tool")]
  if (isOpen && isConcrete)
    return [finding(path, "has both an action and a tool; a step must have exactly one of them")]
  if (!isOpen && !isConcrete)
    return [finding(path, "needs a tool with arguments, or an action with a description")]
  const [ofOpen = [], ofConcrete = []] = issue.errors
  return shapeFindings(isOpen ? ofOpen : ofConcrete, value, path)
}

function sentence(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options)
        ? `must be one of ${issue.options.map(String).join(", ")}`
        : "is not valid here"
    case "too_small":
      return "must not be empty"
    case "too_big":
      return `must have at most ${issue.maximum} ${issue.origin === "string" ? "characters" : "entries"}`
    case "invalid_format":
      return "must be printable, without a space at its beginning or end"
    default:
      return "is not valid here"
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text in quotes",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
}

function valueAt(value: Json, path: PlanPath): Json | undefined {
  let here: Json | undefined = value
  for (const part of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, part)) return undefined
    // as: an array is indexed by number and an object by name; the line above checked that it exists.
    here = (here as Readonly<Record<string | number, Json>>)[part]
  }
  return here
}

function finding(path: PlanPath, message: string): PlanFinding {
  return { code: "E001", path, message }
}
