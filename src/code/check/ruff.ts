import { type Checker, linesBy, numberOf } from "../checker.ts"
import type { PrintedDiagnostic } from "../contract.ts"
import { pythonCall } from "./python-call.ts"

const options = ["check", "--no-cache", "--output-format=concise"]

export const ruffChecker: Checker = {
  name: "ruff",
  kind: "Python",
  programs: [".venv/bin/ruff", "venv/bin/ruff", "ruff"],
  callFor: (checked, files) =>
    pythonCall(checked, files, { options, section: "tool.ruff", names: ["ruff.toml", ".ruff.toml"] }),
  reader: () => linesBy(read, /^(?:$|Found \d|All checks|No fixes|\[\*\])/),
}

const located = /^(\S.*?):(\d+):(\d+): ([A-Z]+\d+|[\w-]+:) (?:\[\*\] )?(.*)$/

function read(line: string): PrintedDiagnostic | null {
  const [whole, file = "", row, column, name = "", message = ""] = located.exec(line) ?? []
  if (whole === undefined) return null
  const code = name.endsWith(":") ? name.slice(0, -1) : name
  return { level: "error", message, file, line: numberOf(row) ?? 0, column: numberOf(column), code }
}
