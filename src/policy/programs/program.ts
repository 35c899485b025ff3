import { deceivingCharacter, isDynamic, marks } from "../shell/script.ts"

/**
 * The program that an argument names. `isTrusted` is set where the path identifies the program, and not only its
 * name.
 */
export interface ProgramName {
  readonly name: string
  readonly isTrusted: boolean
}

const systemDirectory = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/
const workspaceTool =
  /^(\.\/)?node_modules\/\.bin\/[^/]+$|^(\.\/)?(\.venv|venv)\/bin\/[^/]+$|^\.\/(gradlew|mvnw)$/

/**
 * Returns the name of a program: `/usr/bin/rm`, `RM` and `rm.exe` are rm; `./rm` may be anything, and is judged as
 * both.
 */
export function programName(word: string): ProgramName {
  const base = word.slice(word.lastIndexOf("/") + 1)
  if (!word.includes("/")) return { name: withoutVersion(base), isTrusted: true }
  const isTrusted = systemDirectory.test(word) || workspaceTool.test(word)
  return { name: withoutVersion(base), isTrusted }
}

/** Removes the version from a name: `python3.11`, `gcc-12`, `pip3`. */
function withoutVersion(base: string): string {
  return base.replace(
    /^(python|pip|pypy|gcc|g\+\+|clang|clang\+\+|clang-format|clang-tidy|node|ruby|php)-?\d+(\.\d+)*$/,
    "$1",
  )
}

/** Returns the name that a case-insensitive file system would find. */
export function foldedName(name: string): string {
  return name.toLowerCase().replace(/\.(exe|cmd|bat|com)$/, "")
}

/** Returns the reason why an argument cannot be the name of a program, or null. */
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
