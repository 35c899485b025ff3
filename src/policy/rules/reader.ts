import { canonicalJson } from "../../base/canonical.ts"
import { compileGlob, type Glob } from "../../base/glob.ts"
import { shellQuoted } from "../../base/text.ts"
import { type EffectCategory, effectCategories } from "../../domain/effect.ts"
import { matchedArguments, type Rule, type RulePolicy, ruleMatchesPath, rulePolicies } from "./rules.ts"

/** One problem of the rules: its place and the reason. */
export interface RuleProblem {
  /** The place, such as `rules[2].command_regex`. */
  readonly where: string
  readonly message: string
}

export interface ReadRules {
  readonly rules: readonly Rule[]
  readonly problems: readonly RuleProblem[]
}

const keys = new Set(
  "name operation pattern command command_regex policy prompt_message match not_match".split(" "),
)
const rulesMax = 500

/** Reads the rules of a configuration and runs their examples. Reports all problems; with any, no rule applies. */
export function readRules(input: unknown): ReadRules {
  if (input === undefined || input === null) return { rules: [], problems: [] }
  const problems: RuleProblem[] = []
  if (!Array.isArray(input)) return { rules: [], problems: [{ where: "rules", message: "is not a list" }] }
  if (input.length > rulesMax)
    return { rules: [], problems: [{ where: "rules", message: `has more than ${rulesMax} entries` }] }
  const rules = input.flatMap((entry: unknown, index) => {
    const rule = readRule(entry, `rules[${index}]`, problems)
    return rule === null ? [] : [rule]
  })
  const seen = new Set<string>()
  for (const [index, { name }] of rules.entries()) {
    if (seen.has(name)) problems.push({ where: `rules[${index}].name`, message: `"${name}" is used twice` })
    seen.add(name)
  }
  return problems.length > 0 ? { rules: [], problems } : { rules, problems }
}

function readRule(entry: unknown, where: string, problems: RuleProblem[]): Rule | null {
  const before = problems.length
  const wrong = (key: string, message: string) => problems.push({ where: `${where}${key}`, message })
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    wrong("", "is not a mapping")
    return null
  }
  const fields = new Map<string, unknown>(Object.entries(entry))
  for (const key of fields.keys()) if (!keys.has(key)) wrong(`.${key}`, "is not a key of a rule")
  const name = fields.get("name")
  if (typeof name !== "string" || name.trim() === "") wrong(".name", "is missing")
  const category = readCategory(fields.get("operation"))
  if (category === null) wrong(".operation", `is not one of ${effectCategories.join(", ").toLowerCase()}`)
  const policy = rulePolicies.find(known => known === fields.get("policy"))
  if (policy === undefined) wrong(".policy", `is not one of ${rulePolicies.join(", ")}`)
  const matcher = readMatcher(fields, category, wrong)
  const message = fields.get("prompt_message") ?? null
  if (message !== null && typeof message !== "string") wrong(".prompt_message", "is not a text")
  if (problems.length > before || typeof name !== "string" || category === null || policy === undefined)
    return null
  const rule = {
    name,
    category,
    policy: policy satisfies RulePolicy,
    message: typeof message === "string" ? message : null,
    ...matcher,
    source: canonicalJson(entry),
  }
  runExamples(rule, fields, wrong)
  return rule
}

function readCategory(value: unknown): EffectCategory | null {
  if (typeof value !== "string") return null
  return effectCategories.find(category => category === value.toUpperCase()) ?? null
}

type Wrong = (key: string, message: string) => void
type Matcher = Pick<Rule, "patterns" | "command" | "commandGlobs" | "commandRegex">

function readMatcher(fields: Map<string, unknown>, category: EffectCategory | null, wrong: Wrong): Matcher {
  const pattern = fields.get("pattern")
  const command = fields.get("command")
  const regex = fields.get("command_regex")
  const isCommand = category === "TERMINAL_COMMAND"
  if (isCommand && pattern !== undefined) wrong(".pattern", "is for paths and hosts, not for commands")
  if (!isCommand && (command !== undefined || regex !== undefined))
    wrong(".command", "is only for operation terminal_command")
  if (isCommand && command === undefined && regex === undefined) wrong(".command", "is missing")
  if (category !== null && !isCommand && pattern === undefined) wrong(".pattern", "is missing")
  const tokens = command === undefined ? null : readTokens(command, wrong)
  return {
    patterns: pattern === undefined ? null : readPatterns(pattern, wrong),
    command: tokens,
    commandGlobs: (tokens ?? []).flatMap(token => compileGlob(token) ?? []),
    commandRegex: regex === undefined ? null : readRegex(regex, wrong),
  }
}

function readPatterns(value: unknown, wrong: Wrong): { glob: Glob; negated: boolean }[] {
  const texts = typeof value === "string" ? [value] : isTexts(value) ? value : []
  if (texts.length === 0) wrong(".pattern", "is not a glob or a list of globs")
  return texts.flatMap(text => {
    const negated = text.startsWith("!")
    const glob = compileGlob(negated ? text.slice(1) : text)
    if (glob === null) wrong(".pattern", `"${text}" is not a glob`)
    return glob === null ? [] : [{ glob, negated }]
  })
}

function readTokens(value: unknown, wrong: Wrong): string[] | null {
  const tokens = typeof value === "string" ? value.split(/\s+/).filter(token => token !== "") : value
  if (!isTexts(tokens) || tokens.length === 0) {
    wrong(".command", "is not a list of leading arguments")
    return null
  }
  if (tokens[0] !== undefined && /[*?[{]/.test(tokens[0])) wrong(".command", "does not name the program")
  for (const token of tokens)
    if (compileGlob(token) === null) wrong(".command", `"${token}" is not a pattern`)
  return tokens
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === "string")
}

/**
 * Compiles a regular expression, anchored, that is fast for every text: it has no nested repetition, no look-around
 * and no back-reference.
 */
function readRegex(value: unknown, wrong: Wrong): RegExp | null {
  if (typeof value !== "string" || value.length > 200) {
    wrong(".command_regex", "is not a text of at most 200 characters")
    return null
  }
  if (!value.startsWith("^") || !/(?<!\\)\$$/.test(value) || /(?<!\\)(?:\\\\)*\|(?![^(]*\))/.test(value))
    wrong(
      ".command_regex",
      "is not anchored: it must begin with ^ and end with $, with alternatives in parentheses",
    )
  const unbounded = value.replace(/\\./g, "").match(/[*+]|\{\d*,\}/g)?.length ?? 0
  if (unbounded > 2) wrong(".command_regex", "repeats without bound more than twice")
  if (/\\[1-9k]|\(\?[=!<]/.test(value)) wrong(".command_regex", "uses look-around or back-references")
  if (/\((?:[^()\\]|\\.)*[*+}](?:[^()\\]|\\.)*\)[*+{]/.test(value))
    wrong(".command_regex", "repeats a repetition")
  try {
    return new RegExp(value)
  } catch {
    // The message of the engine about a pattern does not help; its place does.
    wrong(".command_regex", "is not a regular expression")
    return null
  }
}

function runExamples(rule: Rule, fields: Map<string, unknown>, wrong: Wrong): void {
  for (const [key, expected] of [["match", true] as const, ["not_match", false] as const]) {
    const examples = fields.get(key)
    if (examples === undefined) continue
    if (!Array.isArray(examples)) {
      wrong(`.${key}`, "is not a list of examples")
      continue
    }
    for (const [index, example] of examples.entries()) {
      const found = matchesExample(rule, example)
      if (found === null) wrong(`.${key}[${index}]`, "is not an example for this operation")
      else if (found !== expected)
        wrong(`.${key}[${index}]`, expected ? "is not matched by the rule" : "is matched by the rule")
    }
  }
}

function matchesExample(rule: Rule, example: unknown): boolean | null {
  if (rule.category !== "TERMINAL_COMMAND")
    return typeof example === "string" ? ruleMatchesPath(rule, rule.category, example) : null
  const argv = typeof example === "string" ? example.split(/\s+/).filter(word => word !== "") : example
  if (!isTexts(argv) || argv.length === 0) return null
  return matchedArguments(rule, argv, commandText(argv)) > 0
}

/** Returns the command as a user would type it, which `command_regex` is matched against. */
export function commandText(argv: readonly string[]): string {
  return argv.map(shellQuoted).join(" ")
}
