import { argumentPath, type Checker, isSource, linesBy, numberOf, projectAbove } from "../checker.ts"
import type { PrintedDiagnostic } from "../contract.ts"

export const goChecker: Checker = {
  name: "go",
  kind: "Go",
  programs: ["go"],
  environment: { GOPROXY: "off", GOFLAGS: "-mod=readonly" },
  callFor: (checked, files) => {
    if (!checked.isDirectory && !isSource(checked, ["go"])) return null
    const project = projectAbove(checked, files, name => name === "go.mod" || name === "go.work")
    if (project !== null) return { cwd: project, arguments: ["vet", "./..."], isProject: true }
    if (checked.isDirectory) return null
    return { cwd: ".", arguments: ["vet", argumentPath(checked.path, ".")], isProject: false }
  },
  // The heading of a package, and explanations below a message.
  reader: () => linesBy(read, /^(?:#|\s|$|exit status )/),
}

const located = /^(?:vet: )?(\S.*?\.(?:go|mod|work|s)):(\d+)(?::(\d+))?: (.*)$/
const general = /^(?:go|vet|package [^:]+): (.*)$/

function read(line: string): PrintedDiagnostic | null {
  const about = located.exec(line)
  if (about !== null) {
    const [, file = "", row, column, message = ""] = about
    return { level: "error", message, file, line: numberOf(row) ?? 0, column: numberOf(column), code: null }
  }
  const [whole, message = ""] = general.exec(line) ?? []
  return whole === undefined ? null : { level: "error", message, file: "", line: 0, column: null, code: null }
}
