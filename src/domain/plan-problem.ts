import { oneLine, printable } from "../base/text.ts"
import { Failure } from "./failure.ts"

export type PlanProblemCode = "E001" | "E201" | "E202"

/** One thing that is wrong with a plan. Safe to print: what it quotes of the plan has its escapes shown. */
export interface PlanProblem {
  readonly code: PlanProblemCode
  /** Where, as a JSON path: `$.tasks[0].steps[2].tool`. */
  readonly path: string
  /** A sentence about what stands there. */
  readonly message: string
}

export type PlanPath = readonly (string | number)[]

/** A problem while its place is still known by its parts. */
export interface PlanFinding {
  readonly code: PlanProblemCode
  readonly path: PlanPath
  readonly message: string
}

/** The problems in the order of their places, so that a person can go through the file once. */
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

/** Text of a plan inside a message: short, on one line and harmless. */
export function quoted(text: string): string {
  return `"${oneLine(text, 80)}"`
}

/** For a command that needs a valid plan and was given another: everything that is wrong, in one message. */
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
    hint: "correct what is named; `acode schema plan` describes the format",
  })
}

export function problemText({ path, message, code }: PlanProblem): string {
  return `${path}: ${message} (${code})`
}
