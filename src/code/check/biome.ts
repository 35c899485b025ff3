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

const extensions = ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"]
const options = ["lint", "--reporter=github", "--colors=off", "--max-diagnostics=none"]

export const biomeChecker: Checker = {
  name: "biome",
  kind: "JavaScript and TypeScript",
  programs: ["node_modules/.bin/biome", "biome"],
  callFor: (checked, files) => {
    if (!checked.isDirectory && !isSource(checked, extensions)) return null
    const project = projectAbove(checked, files, name => name === "biome.json" || name === "biome.jsonc")
    if (project === null && checked.isDirectory) return null
    const cwd = project ?? "."
    return { cwd, arguments: [...options, argumentPath(checked.path, cwd)], isProject: project !== null }
  },
  // Its summary, in lines of its own form.
  reader: () => linesBy(read, /^(?:\s|$|lint |check |.* ━)/),
}

const annotation = /^::(error|warning|notice) ([^:]*(?::[^:]+)*?)::(.*)$/

function read(line: string): PrintedDiagnostic | null {
  const [whole, level = "", properties = "", message = ""] = annotation.exec(line) ?? []
  if (whole === undefined) return null
  const values = new Map(
    properties.split(",").map(each => {
      const equals = each.indexOf("=")
      return [each.slice(0, equals), each.slice(equals + 1)] as const
    }),
  )
  return {
    level: levelNamed(level),
    message: unescaped(message),
    file: unescaped(values.get("file") ?? ""),
    line: numberOf(values.get("line")) ?? 0,
    column: numberOf(values.get("col")),
    code: values.get("title") ?? null,
  }
}

const escapes: Readonly<Record<string, string>> = {
  "%25": "%",
  "%0D": "\r",
  "%0A": "\n",
  "%3A": ":",
  "%2C": ",",
}

/** Returns a property or message of an annotation without its escapes. */
function unescaped(text: string): string {
  return text.replace(/%(?:25|0D|0A|3A|2C)/g, code => escapes[code] ?? code)
}
