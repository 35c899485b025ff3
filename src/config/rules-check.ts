import type { Json } from "../base/canonical.ts"
import { oneLine } from "../base/text.ts"
import { type RuleProblem, readRules } from "../policy/rules/reader.ts"
import type { Rule } from "../policy/rules/rules.ts"
import { ownMember } from "./keys.ts"
import { configFailure, type DocumentProblem } from "./problem.ts"
import type { Config } from "./schema.ts"

/**
 * Returns the problems of rules that a schema cannot find: invalid patterns, names used twice, examples that fail.
 * Leaves out entries that are in `reported`. Separate from the schema because it loads the shipped rules.
 */
export function ruleProblems(document: Json, reported: readonly DocumentProblem[]): DocumentProblem[] {
  const rules = listAt(document, "rules")
  const allowed = listAt(ownMember(document, "executor"), "allowed_commands")
  const found = [
    ...readRules(rules).problems.map(problem => placed(["rules"], problem)),
    ...readRules(allowed.map(allowedEntry)).problems.map(problem =>
      placed(["executor", "allowed_commands"], problem),
    ),
  ]
  return found.filter(({ path }) => !reported.some(known => isAround(known.path, path)))
}

/** Returns the rules in force, in order. Each file was checked separately, so two of them may use the same name. */
export function configuredRules({ rules, executor }: Config): readonly Rule[] {
  return [...rules, ...executor.allowed_commands.map(allowedEntry)].flatMap(entry => {
    const read = readRules([entry])
    const [problem] = read.problems
    if (problem === undefined) return read.rules
    // Every file was checked before. Leaving out a rule that is invalid all the same could drop a refusal.
    throw configFailure([{ ...nowhere, key: `rules "${oneLine(entry.name, 60)}"`, message: problem.message }])
  })
}

const nowhere = {
  code: "ACODE-CFG-003",
  source: "configuration",
  line: null,
  column: null,
  allowed: null,
} as const

function allowedEntry(command: Json, index: number) {
  return {
    name: `executor.allowed_commands[${index}]`,
    operation: "terminal_command",
    policy: "auto",
    command,
  }
}

/** Returns the problem at its path of the file. A problem of an allowed command is a problem of the whole entry. */
function placed(base: readonly string[], { where, message }: RuleProblem): DocumentProblem {
  const steps = where
    .split(/[.[\]]+/)
    .slice(1)
    .filter(step => step !== "")
    .map(step => (/^\d+$/.test(step) ? Number(step) : step))
  const inner = base.length === 1 ? steps : steps.slice(0, 1)
  return { path: [...base, ...inner], what: "value", message, allowed: null }
}

/** Reports whether both paths are in the same entry of the same list, or the first is the list itself. */
function isAround(reported: DocumentProblem["path"], path: DocumentProblem["path"]): boolean {
  const entryAt = path.findIndex(step => typeof step === "number")
  const depth = entryAt < 0 ? path.length : entryAt + 1
  return reported.slice(0, depth).every((step, index) => step === path[index])
}

function listAt(map: Json | undefined, key: string): readonly Json[] {
  const list = ownMember(map, key)
  return Array.isArray(list) ? list : []
}
