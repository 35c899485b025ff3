import {
  type Checker,
  callWithSources,
  isSource,
  levelNamed,
  linesBy,
  numberOf,
  projectAbove,
} from "../checker.ts"
import type { PrintedDiagnostic } from "../contract.ts"

const projectFile = /\.(?:csproj|fsproj|sln|slnx)$/

export const dotnetChecker: Checker = {
  name: "dotnet",
  kind: "C#",
  programs: ["dotnet"],
  environment: { DOTNET_CLI_TELEMETRY_OPTOUT: "1", DOTNET_NOLOGO: "1" },
  callFor: (checked, files) => {
    if (!checked.isDirectory && !isSource(checked, ["cs", "fs"])) return null
    const project = projectAbove(checked, files, name => projectFile.test(name))
    if (project === null) return null
    return { cwd: project, arguments: ["build", "--no-restore", "--nologo"], isProject: true }
  },
  reader: () => linesBy(read, printed),
}

export const mcsChecker: Checker = {
  name: "mcs",
  kind: "C#",
  programs: ["mcs"],
  callFor: (checked, files) => {
    if (projectAbove(checked, files, name => projectFile.test(name)) !== null) return null
    return callWithSources(checked, files, ["cs"], ["-target:library", "-out:/dev/null"])
  },
  reader: () => linesBy(read, printed),
}

// Progress and counts, and the other place that a message is about.
const printed =
  /^(?:\s|$|Compilation failed: |Build |MSBuild |Time Elapsed |Determining |.* \(Location of the symbol related to previous )/

const located = /^\s*(\S.*?)\((\d+),(\d+)(?:,\d+,\d+)?\): (error|warning) ([A-Z]+\d+): (.*)$/
const general = /^(?:\S.*? : )?(error|warning) ([A-Z]+\d+): (.*)$/

function read(line: string): PrintedDiagnostic | null {
  const about = located.exec(line)
  if (about !== null) {
    const [, file = "", row, column, level = "", code = "", text = ""] = about
    return {
      level: levelNamed(level),
      message: withoutProject(text),
      file,
      line: numberOf(row) ?? 0,
      column: numberOf(column),
      code,
    }
  }
  const [whole, level = "", code = "", message = ""] = general.exec(line) ?? []
  if (whole === undefined) return null
  return { level: levelNamed(level), message: withoutProject(message), file: "", line: 0, column: null, code }
}

function withoutProject(message: string): string {
  return message.replace(/ \[[^[\]]*proj\]$/, "")
}
