import type * as z from "zod/mini"
import { printable } from "../base/text.ts"
import type { Tool } from "./contract.ts"
import { deleteFileTool } from "./delete-file.ts"
import { globTool } from "./glob.ts"
import { listDirectoryTool } from "./list-directory.ts"
import { modifyFileTool } from "./modify-file.ts"
import { readFileTool } from "./read-file.ts"
import { runCommandTool, runTerminalTool } from "./run-command.ts"
import { searchCodeTool } from "./search-code.ts"
import { useSkillTool } from "./use-skill.ts"
import { createFileTool, writeFileTool } from "./write-file.ts"

/** Every tool there is, by its own name. Other spellings are in `aliases.ts`. */
export const toolTable: ReadonlyMap<string, Tool> = new Map(
  [
    readFileTool,
    writeFileTool,
    createFileTool,
    modifyFileTool,
    deleteFileTool,
    listDirectoryTool,
    searchCodeTool,
    globTool,
    runCommandTool,
    runTerminalTool,
    useSkillTool,
  ].map(tool => [tool.name, tool]),
)

/** One thing wrong with the arguments of a call. */
export interface ArgumentProblem {
  /** Where it is, such as `path` or `edits[0].search`; empty when the arguments as a whole are wrong. */
  readonly argument: string
  /** Behind the name of the argument it makes a sentence: `must be text`. */
  readonly message: string
  /** It is required and was not given. */
  readonly missing: boolean
}

/** What arguments are checked against: a tool, or a tool under another name. */
export interface ArgumentRules {
  readonly schema: () => z.ZodMiniType
  readonly required: readonly string[]
}

/**
 * Everything that is wrong with the arguments, at once; nothing when the call can be made. The arguments themselves
 * are passed on as they are: nothing is converted, and no default is added.
 */
export function checkArguments(rules: ArgumentRules, args: unknown): ArgumentProblem[] {
  const { error } = rules.schema().safeParse(args)
  if (error === undefined) return []
  return error.issues.flatMap(issue => problemsOf(issue, rules.required, args))
}

type Issue = z.core.$ZodIssue

function problemsOf(issue: Issue, required: readonly string[], args: unknown): ArgumentProblem[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map(key => ({
      argument: spelled([...issue.path, key]),
      message: "is not an argument of this tool",
      missing: false,
    }))
  const [name] = issue.path
  const missing = issue.path.length === 1 && required.includes(String(name)) && !isGiven(args, String(name))
  const message = missing ? "is required" : complaint(issue)
  return [{ argument: spelled(issue.path), message, missing }]
}

function isGiven(args: unknown, name: string): boolean {
  return typeof args === "object" && args !== null && Object.hasOwn(args, name)
}

function spelled(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) =>
      typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${printable(String(key))}`,
    )
    .join("")
}

/** The schemas are built without a language, so their own words say nothing. */
function complaint(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`
    case "too_small":
      if (issue.origin !== "number") return "must not be empty"
      return `must be ${issue.inclusive === true ? "at least" : "more than"} ${issue.minimum}`
    case "too_big":
      return `must be at most ${issue.maximum}`
    default:
      return issue.message
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  array: "a list",
  object: "an object",
}
