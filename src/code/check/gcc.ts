import { type Checker, callWithSources, type LineReader, levelNamed, numberOf } from "../checker.ts"

// Nothing is written. Without the lines of the source each message is one line.
const options = ["-fsyntax-only", "-Wall", "-fdiagnostics-color=never", "-fno-diagnostics-show-caret", "-I."]

export const gccChecker: Checker = {
  name: "gcc",
  kind: "C",
  programs: ["gcc", "cc", "clang"],
  callFor: (checked, files) =>
    callWithSources(checked, files, checked.isDirectory ? ["c"] : ["c", "h"], options),
  reader: gccReader,
}

export const gxxChecker: Checker = {
  name: "g++",
  kind: "C++",
  programs: ["g++", "c++", "clang++"],
  callFor: (checked, files) =>
    callWithSources(
      checked,
      files,
      checked.isDirectory ? sources : [...sources, "hpp", "hh", "hxx"],
      options,
    ),
  reader: gccReader,
}

const sources = ["cc", "cpp", "cxx", "c++"]

const located = /^(\S.*?):(\d+):(?:(\d+):)? (fatal error|error|warning|note): (.*)$/
const general =
  /^(?:gcc|cc|clang|g\+\+|c\+\+|clang\+\+|cc1|cc1plus|<command-line>): (fatal error|error|warning|note): (.*)$/
const option = /^(.*) \[(-W[\w+=-]+)\]$/
const context =
  /^(?:\s|$|In file included from |compilation terminated|\d+ (?:errors?|warnings?)|\S.*?: (?:In |At |in |note: ))/

function gccReader(): LineReader {
  return line => {
    const about = located.exec(line)
    if (about !== null) {
      const [, file = "", row, column, level = "", text = ""] = about
      const [, message = text, code = null] = option.exec(text) ?? []
      return {
        level: levelNamed(level),
        message,
        file,
        line: numberOf(row) ?? 0,
        column: numberOf(column),
        code,
      }
    }
    const [whole, level = "", message = ""] = general.exec(line) ?? []
    if (whole !== undefined)
      return { level: levelNamed(level), message, file: "", line: 0, column: null, code: null }
    return context.test(line) ? "text" : "unread"
  }
}
