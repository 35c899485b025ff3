import { counted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"

export type ConfigCode = "ACODE-CFG-001" | "ACODE-CFG-002" | "ACODE-CFG-003" | "ACODE-CFG-004"

/** One thing wrong with one source of configuration. */
export interface ConfigProblem {
  readonly code: ConfigCode
  /** The file as a person knows it, a variable, or the command line. */
  readonly source: string
  /** Null where a place makes no sense: a file that cannot be read has no line. */
  readonly line: number | null
  readonly column: number | null
  /** Dotted; empty when the problem is not about a key. */
  readonly key: string
  readonly message: string
  /** What would be right; null when the message says it. */
  readonly allowed: string | null
}

/** One thing wrong with a document, by its path. */
export interface DocumentProblem {
  readonly path: readonly (string | number)[]
  /** Whether the key itself is wrong or what stands behind it. */
  readonly what: "key" | "value"
  readonly message: string
  readonly allowed: string | null
}

const shownMax = 100

/** One Failure for everything that is wrong in all sources, so that nobody corrects a file error by error. */
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
    hint: "correct what is named; `acode schema config` and docs/config.md describe every key",
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
