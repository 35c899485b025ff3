import { oneLine } from "../base/text.ts"
import { type CheckerName, checkerNames } from "../domain/code/checker-names.ts"
import { biomeChecker } from "./check/biome.ts"
import { cargoChecker } from "./check/cargo.ts"
import { dotnetChecker, mcsChecker } from "./check/csharp.ts"
import { gccChecker, gxxChecker } from "./check/gcc.ts"
import { goChecker } from "./check/go.ts"
import { javacChecker } from "./check/javac.ts"
import { mypyChecker } from "./check/mypy.ts"
import { pyrightChecker } from "./check/pyright.ts"
import { ruffChecker } from "./check/ruff.ts"
import { bashChecker, phpChecker, rubyChecker } from "./check/scripts.ts"
import { tscChecker } from "./check/tsc.ts"
import { type Checker, type CheckerCall, directoriesAbove } from "./checker.ts"
import type {
  CheckCommand,
  CheckedPath,
  CheckOutput,
  CodeChecks,
  PrintedDiagnostic,
  ProjectFiles,
} from "./contract.ts"

/** The first that is installed runs of one kind, unless the project configures another. */
const checkers: Readonly<Record<CheckerName, Checker>> = {
  tsc: tscChecker,
  biome: biomeChecker,
  pyright: pyrightChecker,
  mypy: mypyChecker,
  ruff: ruffChecker,
  cargo: cargoChecker,
  go: goChecker,
  javac: javacChecker,
  gcc: gccChecker,
  "g++": gxxChecker,
  dotnet: dotnetChecker,
  mcs: mcsChecker,
  ruby: rubyChecker,
  php: phpChecker,
  bash: bashChecker,
}

export const codeChecks: CodeChecks = {
  checksOf: (path, files, settings) => {
    const kinds = Map.groupBy(
      checkerNames.flatMap(name => candidateOf(checkers[name], path, files, settings) ?? []),
      ({ checker }) => checker.kind,
    )
    const chosen = [...kinds].map(([kind, candidates]) => choiceOf(kind, candidates, files, settings))
    // What the files of the project select stands before, and for a directory instead of, single source files.
    const projects = chosen.filter(({ isProject }) => isProject)
    const used = projects.length > 0 ? projects : chosen
    return {
      commands: used.flatMap(({ command }) => command ?? []),
      missing: used.flatMap(({ missing }) => missing ?? []),
    }
  },
  readOutput: (name, outputs) => outputOf(checkers[name], outputs),
}

interface Candidate {
  readonly checker: Checker
  readonly call: CheckerCall | { readonly reason: string }
  readonly configured: readonly string[] | undefined
}

type Settings = Parameters<CodeChecks["checksOf"]>[2]

/** Returns a checker with its call for a path; null where it is switched off or has nothing to check there. */
function candidateOf(
  checker: Checker,
  path: CheckedPath,
  files: ProjectFiles,
  { configured }: Settings,
): Candidate | null {
  const own = configured.get(checker.name)
  if (own === null) return null
  const call = checker.callFor(path, files)
  return call === null ? null : { checker, call, configured: own }
}

interface Choice {
  readonly isProject: boolean
  readonly command?: CheckCommand
  readonly missing?: string
}

/** Returns the command of one kind of code, or why none of its checkers can run. */
function choiceOf(
  kind: string,
  candidates: readonly Candidate[],
  files: ProjectFiles,
  settings: Settings,
): Choice {
  const isProject = candidates.some(({ call }) => "cwd" in call && call.isProject)
  const rank = ({ configured, call }: Candidate) =>
    configured !== undefined ? 0 : "cwd" in call && call.isChosen === true ? 1 : 2
  for (const candidate of candidates.toSorted((a, b) => rank(a) - rank(b))) {
    const command = commandOf(candidate, files, settings)
    if (command !== null) return { isProject, command }
  }
  return { isProject, missing: `${kind}: ${candidates.map(whyNot).join(", ")}` }
}

function commandOf(
  { checker, call, configured }: Candidate,
  files: ProjectFiles,
  { hasProgram }: Settings,
): CheckCommand | null {
  const { name, environment = {} } = checker
  if (configured !== undefined) return { checker: name, argv: configured, cwd: ".", environment }
  if ("reason" in call) return null
  for (const program of checker.programs) {
    const found = program.includes("/")
      ? ownProgram(program, call.cwd, files)
      : hasProgram(program)
        ? program
        : null
    if (found !== null) return { checker: name, argv: [found, ...call.arguments], cwd: call.cwd, environment }
  }
  return null
}

/** Finds a program that the project brings: in its directory, or in one above it. */
function ownProgram(program: string, cwd: string, files: ProjectFiles): string | null {
  const depth = directoriesAbove(cwd)
    .map(directory => (directory === "." ? program : `${directory}/${program}`))
    .findIndex(path => files.isFile(path))
  return depth === -1 ? null : `${depth === 0 ? "./" : "../".repeat(depth)}${program}`
}

function whyNot({ checker: { name }, call }: Candidate): string {
  return "reason" in call ? `${name} cannot run: ${call.reason}` : `${name} is not installed`
}

/** The most diagnostics that are kept; all are counted. */
const diagnosticsMax = 500
const messageLengthMax = 1000
const unreadLengthMax = 300
/** A line of text beyond this is not read. A message in JSON is one line, with everything around it. */
const lineLengthMax = 20_000
const jsonLengthMax = 1_000_000

/** Reads every line of both streams: one that no rule knows is kept aside, and the others are not lost. */
function outputOf(checker: Checker, outputs: readonly string[]): CheckOutput {
  const rows: PrintedDiagnostic[] = []
  const unreadLines: string[] = []
  for (const output of outputs) {
    const reader = checker.reader()
    for (const line of linesOf(output)) {
      const isTooLong = line.length > (line.startsWith("{") ? jsonLengthMax : lineLengthMax)
      const read = isTooLong ? "unread" : reader(line)
      if (read === "unread") unreadLines.push(oneLine(line, unreadLengthMax))
      if (typeof read === "string") continue
      if (!("codeBefore" in read)) rows.push({ ...read, message: oneLine(read.message, messageLengthMax) })
      else rows.push(...rows.splice(-1).map(row => ({ ...row, code: row.code ?? read.codeBefore })))
    }
  }
  const all = [...new Map(rows.map(row => [JSON.stringify(row), row])).values()]
  const errors = all.filter(({ level }) => level === "error")
  return {
    // Errors first: a long list is cut at its end.
    diagnostics: [...errors, ...all.filter(({ level }) => level !== "error")].slice(0, diagnosticsMax),
    errors: errors.length,
    warnings: all.filter(({ level }) => level === "warning").length,
    unreadLines,
  }
}

const escapeCharacter = String.fromCharCode(0x1b)
/** Colours, which some programs print even into a pipe. */
const colours = new RegExp(`${escapeCharacter}\\[[0-9;]*[mK]`, "g")

function linesOf(output: string): readonly string[] {
  return output
    .replace(colours, "")
    .split("\n")
    .map(line => (line.endsWith("\r") ? line.slice(0, -1) : line))
}
