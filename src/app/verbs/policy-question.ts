import { printable } from "../../base/text.ts"
import { type PathOperation, pathOperations } from "../../domain/effect.ts"
import { Failure } from "../../domain/failure.ts"
import type { PolicyQuestion } from "./policy-questions.ts"

/** Parses one JSON line. Unknown properties are ignored, so that a list may contain notes. */
export function readQuestion(line: string): PolicyQuestion {
  const value = objectIn(line)
  const forms = ["command", "argv", "path"].filter(name => value[name] !== undefined)
  if (forms.length !== 1) throw malformed(`it has ${forms.join(" and ") || "no question"}`)
  const { command, argv, path, op } = value
  if (typeof command === "string") return { command }
  if (Array.isArray(argv)) return { argv: programIn(argv) }
  if (typeof path === "string") return { path, op: operationIn(op) }
  throw malformed(forms[0] === "argv" ? "argv is not a list" : `${forms[0]} is not a string`)
}

function operationIn(op: unknown): PathOperation {
  const operation = pathOperations.find(name => name === op)
  if (operation !== undefined) return operation
  const given =
    typeof op === "string" ? `"${printable(op)}" is not an operation` : "a path needs an operation"
  throw malformed(`${given}; one of ${pathOperations.join(", ")}`)
}

function programIn(argv: readonly unknown[]): readonly string[] {
  const words = argv.filter(word => typeof word === "string")
  if (words.length < argv.length) throw malformed("argv contains a value that is not a string")
  if (words[0] === undefined || words[0] === "") throw malformed("argv names no program")
  return words
}

function objectIn(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw malformed("it is not JSON")
  }
  throw malformed("it is not a JSON object")
}

function malformed(why: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: `the question cannot be read: ${why}`,
    hint: 'write {"command":"…"}, {"argv":["…"]} or {"path":"…","op":"read"}',
  })
}
