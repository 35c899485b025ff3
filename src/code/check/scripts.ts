import { type Checker, callWithOneSource, type LineReader, linesBy, numberOf } from "../checker.ts"
import type { CheckedPath, PrintedDiagnostic, ProjectFiles } from "../contract.ts"

export const rubyChecker: Checker = {
  name: "ruby",
  kind: "Ruby",
  programs: ["ruby"],
  callFor: (checked, files) => callWithOneSource(checked, files, ["rb"], ["-wc"]),
  reader: rubyReader,
}

const rubyLine = /^(\S.*?):(\d+): (warning: )?(.*)$/

/** A message is followed by the line it is about and a mark below the place. */
function rubyReader(): LineReader {
  let isSourceNext = false
  return line => {
    const [whole, file = "", row, warning, message = ""] = rubyLine.exec(line) ?? []
    if (whole !== undefined) {
      const level = warning === undefined ? "error" : "warning"
      isSourceNext = level === "error"
      return { level, message, file, line: numberOf(row) ?? 0, column: null, code: null }
    }
    const isSource = isSourceNext
    isSourceNext = false
    return isSource || /^(?:\s|$|Syntax OK|\.\.\.|\^)/.test(line) ? "text" : "unread"
  }
}

export const phpChecker: Checker = {
  name: "php",
  kind: "PHP",
  programs: ["php"],
  callFor: (checked, files) =>
    callWithOneSource(checked, files, ["php"], ["-d", "display_errors=1", "-d", "log_errors=0", "-l"]),
  reader: () => linesBy(readPhp, /^(?:\s*$|No syntax errors detected in |Errors parsing )/),
}

const phpLine =
  /^(?:PHP )?((?:Parse|Fatal|Compile) error|Warning|Deprecated|Notice): +(.*) in (\S.*?) on line (\d+)$/

function readPhp(line: string): PrintedDiagnostic | null {
  const [whole, word = "", message = "", file = "", row] = phpLine.exec(line) ?? []
  if (whole === undefined) return null
  const level = word.endsWith("error") ? "error" : "warning"
  return { level, message, file, line: numberOf(row) ?? 0, column: null, code: null }
}

export const bashChecker: Checker = {
  name: "bash",
  kind: "shell scripts",
  programs: ["bash"],
  callFor: (checked, files) =>
    isScript(checked, files)
      ? { cwd: ".", arguments: ["-n", `./${checked.path}`], isProject: false }
      : callWithOneSource(checked, files, ["sh", "bash"], ["-n"]),
  reader: () => linesBy(readBash, /^\s*$/),
}

/** A script without an extension names its interpreter in its first line. */
function isScript({ path, isDirectory }: CheckedPath, files: ProjectFiles): boolean {
  if (isDirectory || path.slice(path.lastIndexOf("/") + 1).includes(".")) return false
  return /^#!\s*\S*(?:\/env\s+)?\S*\b(?:ba)?sh\b/.test(files.text(path) ?? "")
}

const bashLine = /^(\S.*?): line (\d+): (.*)$/
/** The line that the message before is about. */
const bashQuote = /^`.*'$/

function readBash(line: string): PrintedDiagnostic | "text" | null {
  const [whole, file = "", row, message = ""] = bashLine.exec(line) ?? []
  if (whole === undefined) return null
  if (bashQuote.test(message)) return "text"
  const level = message.startsWith("warning: ") ? "warning" : "error"
  return { level, message, file, line: numberOf(row) ?? 0, column: null, code: null }
}
