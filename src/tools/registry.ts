import type * as z from "zod/mini"
import { printable } from "../base/text.ts"
import { lspCheckTool } from "./code/lsp-check.ts"
import { referencesFromFileTool } from "./code/references-from-file.ts"
import { referencesToSymbolNameTool } from "./code/references-to-symbol-name.ts"
import { splicePatchTool } from "./code/splice-patch.ts"
import { splicePlanTool } from "./code/splice-plan.ts"
import { symbolsInFileTool } from "./code/symbols-in-file.ts"
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

/** Holds every tool by its own name. `aliases.ts` maps the other names. */
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
    symbolsInFileTool,
    referencesToSymbolNameTool,
    referencesFromFileTool,
    splicePatchTool,
    splicePlanTool,
    lspCheckTool,
  ].map(tool => [tool.name, tool]),
)

/** One problem of the arguments of a call. */
export interface ArgumentProblem {
  /** The argument, such as `path` or `edits[0].search`; empty when the arguments as a whole are wrong. */
  readonly argument: string
  /** Forms a sentence behind the name of the argument: `must be text`. */
  readonly message: string
  /** Set where a required argument was not given. */
  readonly missing: boolean
}

/** The rules that arguments are checked against: those of a tool, or of one of its aliases. */
export interface ArgumentRules {
  readonly schema: () => z.ZodMiniType
  readonly required: readonly string[]
}

/**
 * Returns all problems of the arguments at once, or none when the call can be made. It converts no argument and adds
 * no default.
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

/** Returns the message of an issue. The schemas are built without a language and have no messages of their own. */
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
