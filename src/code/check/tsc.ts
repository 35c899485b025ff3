import {
  argumentPath,
  type Checker,
  isSource,
  levelNamed,
  linesBy,
  numberOf,
  projectAbove,
} from "../checker.ts"
import type { PrintedDiagnostic } from "../contract.ts"

const extensions = ["ts", "tsx", "mts", "cts"]
const options = ["--noEmit", "--pretty", "false"]

export const tscChecker: Checker = {
  name: "tsc",
  kind: "JavaScript and TypeScript",
  programs: ["node_modules/.bin/tsc", "tsc"],
  callFor: (checked, files) => {
    if (!checked.isDirectory && !isSource(checked, extensions)) return null
    const project = projectAbove(checked, files, name => name === "tsconfig.json")
    if (project !== null) {
      const config = files.text(project === "." ? "tsconfig.json" : `${project}/tsconfig.json`) ?? ""
      const mode = isSolution(config) ? ["--build", "."] : ["-p", "."]
      return { cwd: project, arguments: [...mode, ...options], isProject: true }
    }
    if (checked.isDirectory) return null
    return { cwd: ".", arguments: [...options, argumentPath(checked.path, ".")], isProject: false }
  },
  // The lines below a message explain it.
  reader: () => linesBy(read, /^(?:\s|$)/),
}

/** Matches a configuration that only refers to others: with `-p` the compiler would check no file at all. */
function isSolution(config: string): boolean {
  return /"references"\s*:/.test(config) && /"files"\s*:\s*\[\s*\]/.test(config)
}

const located = /^(\S.*?)\((\d+),(\d+)\): (error|warning|message) (TS\d+): (.*)$/
const general = /^(error|warning|message) (TS\d+): (.*)$/

function read(line: string): PrintedDiagnostic | null {
  const about = located.exec(line)
  if (about !== null) {
    const [, file = "", row, column, level = "", code = "", message = ""] = about
    return {
      level: levelNamed(level),
      message,
      file,
      line: numberOf(row) ?? 0,
      column: numberOf(column),
      code,
    }
  }
  const [whole, level = "", code = "", message = ""] = general.exec(line) ?? []
  if (whole === undefined) return null
  return { level: levelNamed(level), message, file: "", line: 0, column: null, code }
}
