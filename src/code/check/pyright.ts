import { type Checker, levelNamed, linesBy, numberOf, type ReadLine } from "../checker.ts"
import { pythonCall } from "./python-call.ts"

export const pyrightChecker: Checker = {
  name: "pyright",
  kind: "Python",
  programs: ["node_modules/.bin/pyright", ".venv/bin/pyright", "venv/bin/pyright", "pyright"],
  callFor: (checked, files) =>
    pythonCall(checked, files, { options: [], section: "tool.pyright", names: ["pyrightconfig.json"] }),
  // A heading for each file, explanations below a message, and the counts.
  reader: () => linesBy(read, /^(?:\/|\s{3}|$|No configuration|\d+ errors?, )/),
}

const located = /^ {2}(\S.*?):(\d+):(\d+) - (error|warning|information): (.*)$/
const rule = /^(.*) \((report[A-Za-z]+)\)$/

/** The last line of an explanation below a message names the rule. */
const explained = /^\s{3}.* \((report[A-Za-z]+)\)$/

function read(line: string): Exclude<ReadLine, "unread"> | null {
  const [whole, file = "", row, column, level = "", text = ""] = located.exec(line) ?? []
  if (whole === undefined) {
    const [, codeBefore] = explained.exec(line) ?? []
    return codeBefore === undefined ? null : { codeBefore }
  }
  const [, message = text, code = null] = rule.exec(text) ?? []
  return { level: levelNamed(level), message, file, line: numberOf(row) ?? 0, column: numberOf(column), code }
}
