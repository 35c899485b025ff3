import { type Checker, levelNamed, linesBy, numberOf } from "../checker.ts"
import type { PrintedDiagnostic } from "../contract.ts"
import { pythonCall } from "./python-call.ts"

const options = [
  "--cache-dir=/dev/null",
  "--show-column-numbers",
  "--show-error-codes",
  "--no-color-output",
  "--no-error-summary",
  "--no-pretty",
]

export const mypyChecker: Checker = {
  name: "mypy",
  kind: "Python",
  programs: [".venv/bin/mypy", "venv/bin/mypy", "mypy"],
  callFor: (checked, files) =>
    pythonCall(checked, files, { options, section: "tool.mypy", names: ["mypy.ini", ".mypy.ini"] }),
  reader: () => linesBy(read, /^$/),
}

const located = /^(\S.*?):(?:(\d+):)?(?:(\d+):)? (error|warning|note): (.*)$/
const coded = /^(.*?) {2}\[([a-z-]+)\]$/

function read(line: string): PrintedDiagnostic | null {
  const [whole, file = "", row, column, level = "", text = ""] = located.exec(line) ?? []
  if (whole === undefined) return null
  const [, message = text, code = null] = coded.exec(text) ?? []
  const named = file === "mypy" ? "" : file
  return {
    level: levelNamed(level),
    message,
    file: named,
    line: numberOf(row) ?? 0,
    column: numberOf(column),
    code,
  }
}
