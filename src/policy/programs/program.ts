import { deceivingCharacter, isDynamic, marks } from "../shell/script.ts"

/** The program a word names. `isTrusted` where the name says which program it is, and not only what it is called. */
export interface ProgramName {
  readonly name: string
  readonly isTrusted: boolean
}

const systemDirectory = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/
const workspaceTool =
  /^(\.\/)?node_modules\/\.bin\/[^/]+$|^(\.\/)?(\.venv|venv)\/bin\/[^/]+$|^\.\/(gradlew|mvnw)$/

/** `/usr/bin/rm`, `RM` and `rm.exe` are rm; `./rm` may be anything, and is judged as both. */
export function programName(word: string): ProgramName {
  const base = word.slice(word.lastIndexOf("/") + 1)
  if (!word.includes("/")) return { name: withoutVersion(base), isTrusted: true }
  const isTrusted = systemDirectory.test(word) || workspaceTool.test(word)
  return { name: withoutVersion(base), isTrusted }
}

/** `python3.11`, `gcc-12` and `pip3` are named after the program without its version. */
function withoutVersion(base: string): string {
  return base.replace(
    /^(python|pip|pypy|gcc|g\+\+|clang|clang\+\+|clang-format|clang-tidy|node|ruby|php)-?\d+(\.\d+)*$/,
    "$1",
  )
}

/** The name a file system without regard to case would find. */
export function foldedName(name: string): string {
  return name.toLowerCase().replace(/\.(exe|cmd|bat|com)$/, "")
}

/** Why a word cannot be taken for the name of a program, or null. */
export function nameProblem(written: string): string | null {
  const word = written.startsWith(marks.home) ? written.slice(1) : written
  if (word === "") return "the program has no name"
  if (isDynamic(word)) return "which program it starts is known only when it runs"
  const deceiving = deceivingCharacter(word)
  if (deceiving !== null) return `the name of the program contains ${deceiving}`
  if (!/^[\x21-\x7e]+$/.test(word)) return "the name of the program is not plain ASCII without blanks"
  if (/[;&|<>()$`'"\\*?{}!#~]/.test(word)) return "the name of the program contains shell syntax"
  return null
}
