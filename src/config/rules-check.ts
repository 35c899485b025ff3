import type { Json } from "../base/canonical.ts"
import { oneLine } from "../base/text.ts"
import { type RuleProblem, readRules } from "../policy/rules/reader.ts"
import type { Rule } from "../policy/rules/rules.ts"
import { ownMember } from "./keys.ts"
import { configFailure, type DocumentProblem } from "./problem.ts"
import type { Config } from "./schema.ts"

/**
 * What the shape of a rule does not show: patterns that are none, names used twice, examples that fail. Entries that
 * are told already are left out. Apart from the schema because it brings the shipped rules along.
 */
export function ruleProblems(document: Json, told: readonly DocumentProblem[]): DocumentProblem[] {
  const rules = listAt(document, "rules")
  const allowed = listAt(ownMember(document, "executor"), "allowed_commands")
  const found = [
    ...readRules(rules).problems.map(problem => placed(["rules"], problem)),
    ...readRules(allowed.map(allowedEntry)).problems.map(problem =>
      placed(["executor", "allowed_commands"], problem),
    ),
  ]
  return found.filter(({ path }) => !told.some(known => isAround(known.path, path)))
}

/** The rules in force, in order. Each file was checked on its own, so two of them may use one name. */
export function configuredRules({ rules, executor }: Config): readonly Rule[] {
  return [...rules, ...executor.allowed_commands.map(allowedEntry)].flatMap(entry => {
    const read = readRules([entry])
    const [problem] = read.problems
    if (problem === undefined) return read.rules
    // Every file was checked; a rule that slipped through and was left out could be the one that refuses.
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

/** `rules[2].match[0]` as a path of the file. What is wrong with an allowed command is wrong with the entry. */
function placed(base: readonly string[], { where, message }: RuleProblem): DocumentProblem {
  const steps = where
    .split(/[.[\]]+/)
    .slice(1)
    .filter(step => step !== "")
    .map(step => (/^\d+$/.test(step) ? Number(step) : step))
  const inner = base.length === 1 ? steps : steps.slice(0, 1)
  return { path: [...base, ...inner], what: "value", message, allowed: null }
}

/** Whether both are about the same entry of the same list, or the first is about the list itself. */
function isAround(told: DocumentProblem["path"], path: DocumentProblem["path"]): boolean {
  const entryAt = path.findIndex(step => typeof step === "number")
  const depth = entryAt < 0 ? path.length : entryAt + 1
  return told.slice(0, depth).every((step, index) => step === path[index])
}

function listAt(map: Json | undefined, key: string): readonly Json[] {
  const list = ownMember(map, key)
  return Array.isArray(list) ? list : []
}
