import { counted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"

export type ConfigCode = "ACODE-CFG-001" | "ACODE-CFG-002" | "ACODE-CFG-003" | "ACODE-CFG-004"

/** One problem of one source of configuration. */
export interface ConfigProblem {
  readonly code: ConfigCode
  /** The file by its short path, a variable, or the command line. */
  readonly source: string
  /** The line of the problem; null where there is none, such as in a file that cannot be read. */
  readonly line: number | null
  readonly column: number | null
  /** The dotted key; empty when the problem is not about a key. */
  readonly key: string
  readonly message: string
  /** The allowed values; null when the message names them. */
  readonly allowed: string | null
}

/** One problem of a document, by its path. */
export interface DocumentProblem {
  readonly path: readonly (string | number)[]
  /** The part that is wrong: the key itself or its value. */
  readonly what: "key" | "value"
  readonly message: string
  readonly allowed: string | null
}

const shownMax = 100

/** Returns one Failure with all problems of all sources, so that the user can fix them in one pass. */
export function configFailure(problems: readonly ConfigProblem[]): Failure {
  const [first] = problems
  const lines = problems.slice(0, shownMax).map(problemLine)
  const hidden = problems.length - lines.length
  if (hidden > 0) lines.push(`and ${hidden} more`)
  const count = counted(problems.length, "problem")
  return new Failure({
    kind: "config",
    code: first?.code ?? "ACODE-CFG-003",
    message: `${count} in the configuration:\n${lines.map(line => `  ${line}`).join("\n")}`,
    where: first === undefined ? "configuration" : placeOf(first),
    hint: "fix the keys named above; `acode schema config` and docs/config.md describe every key",
  })
}

function problemLine(problem: ConfigProblem): string {
  const subject = problem.key === "" ? "" : ` ${problem.key}`
  const allowed = problem.allowed === null ? "" : `; allowed: ${problem.allowed}`
  return `${placeOf(problem)}${subject}: ${problem.message}${allowed}`
}

function placeOf(problem: ConfigProblem): string {
  return problem.line === null ? problem.source : `${problem.source}:${problem.line}:${problem.column ?? 1}`
}
