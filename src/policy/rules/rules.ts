import { canonicalJson, sha256Hex } from "../../base/canonical.ts"
import type { Glob } from "../../base/glob.ts"
import type { EffectCategory } from "../../domain/effect.ts"
import { foldedName, programName } from "../programs/program.ts"
import { shippedRules } from "../programs/shipped.ts"
import { isDynamic } from "../shell/script.ts"
import { protectedRules } from "./protected-rules.ts"

export const rulePolicies = ["auto", "prompt", "deny", "skip"] as const
export type RulePolicy = (typeof rulePolicies)[number]

/** A checked rule of the configuration. `readRules` creates them. */
export interface Rule {
  readonly name: string
  readonly category: EffectCategory
  readonly policy: RulePolicy
  readonly message: string | null
  /**
   * Patterns of paths, or of host names for EXTERNAL_REQUEST. All negated ones must miss, one of the others must
   * match.
   */
  readonly patterns: readonly { readonly glob: Glob; readonly negated: boolean }[] | null
  /** One glob for each leading argument. */
  readonly command: readonly string[] | null
  readonly commandGlobs: readonly Glob[]
  readonly commandRegex: RegExp | null
  /** The rule as written, in canonical form. */
  readonly source: string
}

export interface RuleSet {
  readonly rules: readonly Rule[]
  /**
   * The version of the shipped, protected and configured rules: an approval that was given under others is not valid.
   */
  readonly version: string
}

export function ruleSet(rules: readonly Rule[]): RuleSet {
  // The tables are always written in the same order; a canonical form would take longer than everything else here.
  shippedVersion ??= sha256Hex(JSON.stringify({ shippedRules, protectedRules }))
  const own = rules.map(rule => rule.source)
  return { rules, version: `sha256:${sha256Hex(canonicalJson({ shippedVersion, own }))}` }
}

/** Computed on first use and kept: the tables are large and never change while acode runs. */
let shippedVersion: string | null = null

/**
 * Reports whether the rule matches a path. A refusal ignores case: on some disks `SRC/A` is `src/a`, and a refusal
 * must apply there too.
 */
export function ruleMatchesPath(rule: Rule, category: EffectCategory, path: string): boolean {
  if (rule.category !== category || rule.patterns === null) return false
  const hits = (glob: Glob) => glob.matches(path) || (isRefusal(rule) && glob.matches(path.toLowerCase()))
  const positive = rule.patterns.filter(pattern => !pattern.negated)
  const negative = rule.patterns.filter(pattern => pattern.negated)
  if (negative.some(pattern => hits(pattern.glob))) return false
  return positive.length === 0 || positive.some(pattern => hits(pattern.glob))
}

/**
 * Reports whether the rule matches an allowlist entry or a host; `host` may end in a port, which rules may leave out.
 */
export function matchesHostName(rule: Rule, host: string): boolean {
  const name = host.replace(/:\d+$/, "")
  return (
    ruleMatchesPath(rule, "EXTERNAL_REQUEST", name) ||
    (name !== host && ruleMatchesPath(rule, "EXTERNAL_REQUEST", host))
  )
}

export function isRefusal(rule: Rule): boolean {
  return rule.policy === "deny" || rule.policy === "skip"
}

const regexTextMax = 300

/**
 * Returns how many leading arguments the rule names, or 0 when it does not match. `text` is the command as a user
 * types it.
 */
export function matchedArguments(rule: Rule, argv: readonly string[], text: string): number {
  if (rule.category !== "TERMINAL_COMMAND" || argv.length === 0) return 0
  if (rule.command === null && rule.commandRegex === null) return 0
  const named = rule.command === null ? argv.length : matchedPrefix(rule, argv)
  if (named === 0) return 0
  if (rule.commandRegex === null) return named
  // A text too long to try counts as a match for a rule that refuses, and not for one that allows.
  if (text.length > regexTextMax) return isRefusal(rule) ? named : 0
  return rule.commandRegex.test(text) ? named : 0
}

function matchedPrefix(rule: Rule, argv: readonly string[]): number {
  if (isRefusal(rule)) return matchesInOrder(rule.commandGlobs, argv) ? argv.length : 0
  const { command } = rule
  if (command === null || command.length > argv.length) return 0
  const matches = rule.commandGlobs.every((glob, index) => matchesArgument(glob, argv[index] ?? "", index))
  if (!matches) return 0
  // Only spelled-out arguments are granted: `npm *` does not name the sub-command that it allows.
  const wildcardAt = command.findIndex(token => /[*?[{]/.test(token))
  return wildcardAt < 0 ? command.length : Math.max(1, wildcardAt)
}

function matchesArgument(glob: Glob, word: string, index: number): boolean {
  if (isDynamic(word)) return false
  if (glob.matches(word.replaceAll("/", "\u0001"))) return true
  if (index > 0) return glob.matches(word)
  const { name, isTrusted } = programName(word)
  return glob.matches(word) || (isTrusted && glob.matches(name))
}

/**
 * Reports whether all globs match in order. For a refusal, options may stand between: `git -C . push` is `git push`.
 * An argument that is unknown yet counts as a match.
 */
function matchesInOrder(globs: readonly Glob[], argv: readonly string[]): boolean {
  let at = 0
  for (const [index, glob] of globs.entries()) {
    const found = argv.findIndex((word, position) => position >= at && refusesArgument(glob, word, position))
    if (found < 0 || (index === 0 && found !== 0)) return false
    at = found + 1
  }
  return true
}

function refusesArgument(glob: Glob, word: string, index: number): boolean {
  if (isDynamic(word)) return true
  const name = foldedName(programName(word).name)
  return glob.matches(word) || (index === 0 && glob.matches(name)) || glob.matches(word.toLowerCase())
}
