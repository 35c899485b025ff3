import { posix } from "node:path"
import { compileGlob, isLiteral } from "../base/glob.ts"
import { isPlainPath } from "../base/plain-path.ts"
import type { Effect, Grant, PathEffectKind, PathOperation } from "../domain/effect.ts"
import { type Part, type PolicyOptions, part, partOf, pathKinds } from "./decision.ts"
import { relativeTo } from "./programs/paths.ts"
import { decideOutside, decidePath } from "./protected-paths.ts"
import { isRefusal, type RuleSet, ruleMatchesPath } from "./rules/rules.ts"

export interface PathQuestion {
  readonly kind: PathEffectKind
  /** The path, relative to the root or absolute. */
  readonly path: string
  /** Set when a command names the path: the sandbox then decides about reading outside the workspace. */
  readonly isCommand: boolean
}

/** Decides in this order: protected, never allowed, refusals, the plan, the first rule, the default. */
export function decidePathEffect(
  question: PathQuestion,
  grant: Grant,
  { rules }: RuleSet,
  options: PolicyOptions,
): Part {
  const { kind, isCommand } = question
  const { category, level, operation } = pathKinds[kind]
  const relative = relativeIn(options.root, question.path)
  if (relative === null) return decideElsewhere(question, options)
  const about = { category, level, path: relative, isCommand }
  const guarded = isNamedByGit(relative, operation, options) ? namedByGit : decidePath(relative, operation)
  if (guarded.decision === "deny") return protectedPart(question, guarded, relative)
  if (relative === "." && kind === "delete")
    return part({
      ...about,
      decision: "deny",
      level: 4,
      rule: "never.workspace",
      reason: "it is the workspace",
    })
  const refusal = rules.find(rule => isRefusal(rule) && ruleMatchesPath(rule, category, relative))
  if (refusal !== undefined)
    return partOf(refusal.policy, {
      ...about,
      rule: refusal.name,
      reason: refusal.message ?? "a rule refuses it",
    })
  const otherwise = withoutGrant(about, rules, options)
  if (guarded.decision === "ask") {
    const asked = decideAsked(about, guarded, kind, grant)
    return asked.decision === "ask" && otherwise.decision === "deny" ? otherwise : asked
  }
  if (isGranted(question, relative, grant))
    return part({
      ...about,
      decision: "allow",
      rule: "plan.resources",
      reason: "the approved plan grants it",
    })
  return otherwise
}

/** Decides by the first rule, or else by the default. */
function withoutGrant(
  about: Pick<Part, "category" | "level" | "isCommand"> & { readonly path: string },
  rules: RuleSet["rules"],
  { defaults }: PolicyOptions,
): Part {
  const { category, path } = about
  const rule = rules.find(each => ruleMatchesPath(each, category, path))
  if (rule !== undefined)
    return partOf(rule.policy, { ...about, rule: rule.name, reason: rule.message ?? `rule "${rule.name}"` })
  const byDefault = defaults[category]
  return partOf(byDefault, { ...about, rule: `default.${category}`, reason: `the default is ${byDefault}` })
}

/** Returns the path relative to the root, or null for a path outside. */
function relativeIn(root: string, path: string): string | null {
  return isPlainPath(path) ? path : relativeTo(root, posix.resolve(root, path))
}

/** Reports whether a write there decides which programs the user's next git runs. */
function isNamedByGit(path: string, operation: PathOperation, options: PolicyOptions): boolean {
  if (operation !== "write" && operation !== "delete") return false
  return options.namedByGit?.some(named => path === named || path.startsWith(`${named}/`)) === true
}

const namedByGit = {
  decision: "deny",
  rule: "git configuration",
  reason: "git runs or reads files there",
} as const

interface Guarded {
  readonly rule: string | null
  readonly reason: string | null
}

function protectedPart({ kind, isCommand }: PathQuestion, { rule, reason }: Guarded, path: string): Part {
  return part({
    decision: "deny",
    level: 4,
    category: pathKinds[kind].category,
    rule: `protected:${rule ?? ""}`,
    reason: `${path} is protected: ${reason ?? ""}`,
    path,
    isCommand,
  })
}

/** Decides a path that no rule, no `--yes` and no glob covers, but only its own name in the plan. */
function decideAsked(
  about: Pick<Part, "category" | "level" | "path" | "isCommand">,
  { rule, reason }: Guarded,
  kind: PathEffectKind,
  grant: Grant,
): Part {
  const named = grant.write.some(pattern => isLiteral(pattern) && posix.normalize(pattern) === about.path)
  const why = `${about.path} is always asked: ${reason ?? ""}`
  if (named && kind !== "delete")
    return part({
      ...about,
      decision: "allow",
      rule: "plan.resources",
      reason: "the plan names this file",
      isAlwaysAsked: true,
    })
  return part({
    ...about,
    decision: "ask",
    rule: `protected:${rule ?? ""}`,
    reason: why,
    isLiftable: false,
    isAlwaysAsked: true,
  })
}

function decideElsewhere(question: PathQuestion, options: PolicyOptions): Part {
  const { kind, isCommand, path } = question
  const { category, level, operation } = pathKinds[kind]
  const guarded = decideOutside(path, options.home ?? "/nonexistent", operation)
  if (guarded.decision === "deny") return protectedPart(question, guarded, path)
  const about = { category, level, path, isCommand, rule: "workspace.outside" }
  if (!isCommand)
    return part({ ...about, decision: "deny", level: 4, reason: `${path} is outside workspace` })
  const changes = operation === "write" || operation === "delete"
  return changes
    ? part({ ...about, decision: "ask", level: 3, reason: `${path} is outside workspace` })
    : part({ ...about, decision: "allow", reason: "the sandbox shows the system read-only" })
}

const writing: ReadonlySet<PathEffectKind> = new Set(["write", "createDirectory"])

function isGranted({ kind, isCommand }: PathQuestion, relative: string, grant: Grant): boolean {
  if (writing.has(kind) && grant.write.some(pattern => globOf(pattern)?.matches(relative) === true))
    return true
  return !isCommand && grant.exact.some(effect => isExactly(effect, kind, relative))
}

function isExactly(effect: Effect, kind: PathEffectKind, relative: string): boolean {
  if (effect.kind !== kind || !("path" in effect)) return false
  return posix.normalize(effect.path) === relative
}

const globs = new Map<string, ReturnType<typeof compileGlob>>()
const globsMax = 1000

/** Returns the compiled pattern from a cache, because plans repeat their patterns for every effect. */
function globOf(pattern: string): ReturnType<typeof compileGlob> {
  const known = globs.get(pattern)
  if (known !== undefined) return known
  if (globs.size >= globsMax) globs.clear()
  const compiled = compileGlob(posix.normalize(pattern))
  globs.set(pattern, compiled)
  return compiled
}
