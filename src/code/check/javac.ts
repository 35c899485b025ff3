import {
  type Checker,
  callWithSources,
  type LineReader,
  levelNamed,
  numberOf,
  projectAbove,
} from "../checker.ts"
import type { CheckedPath, ProjectFiles } from "../contract.ts"

const extensions = ["java"]
// Nothing is generated: no class files, and no annotation processor runs.
const options = ["-proc:none", "-implicit:none", "-XDshould-stop.ifNoError=FLOW", "-Xlint"]
const buildFiles = /^(?:pom\.xml|build\.gradle|build\.gradle\.kts|settings\.gradle|settings\.gradle\.kts)$/

export const javacChecker: Checker = {
  name: "javac",
  kind: "Java",
  programs: ["javac"],
  callFor: (checked, files) => {
    const call = callWithSources(checked, files, extensions, [...options, ...sourceRoot(checked, files)])
    if (call === null || projectAbove(checked, files, name => buildFiles.test(name)) === null) return call
    return { reason: "only the build of the project knows its libraries; name its command in code.checkers" }
  },
  reader: javacReader,
}

/** Returns where the other classes of the project are: above the directories that spell the package of the file. */
function sourceRoot({ path, isDirectory }: CheckedPath, files: ProjectFiles): readonly string[] {
  if (isDirectory) return []
  const [, name = ""] = /^\s*package\s+([\w.]+)\s*;/m.exec(files.text(path) ?? "") ?? []
  const folder = path.split("/").slice(0, -1)
  const inner = name === "" ? [] : name.split(".")
  const root = folder.slice(0, folder.length - inner.length)
  const fits = inner.every((part, index) => folder[root.length + index] === part)
  return fits && folder.length >= inner.length ? ["-sourcepath", `./${root.join("/")}`] : []
}

const located = /^(\S.*?\.java):(\d+): (error|warning): (?:\[([\w-]+)\] )?(.*)$/
const general = /^(error|warning): (?:\[([\w-]+)\] )?(.*)$/

/** A message is followed by the line it is about, a mark below the place, and explanations that are indented. */
function javacReader(): LineReader {
  let isSourceNext = false
  return line => {
    const about = located.exec(line)
    if (about !== null) {
      isSourceNext = true
      const [, file = "", row, level = "", code = null, message = ""] = about
      return { level: levelNamed(level), message, file, line: numberOf(row) ?? 0, column: null, code }
    }
    const isSource = isSourceNext
    isSourceNext = false
    const [whole, level = "", code = null, message = ""] = general.exec(line) ?? []
    if (whole !== undefined)
      return { level: levelNamed(level), message, file: "", line: 0, column: null, code }
    return isSource || printed.test(line) ? "text" : "unread"
  }
}

const printed = /^(?:\s|$|\d+ (?:errors?|warnings?)$|Note: |only showing the first )/
