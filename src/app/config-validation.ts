import type { z } from "zod"
import type { Json } from "../base/canonical.ts"
import { nearest, oneLine } from "../base/text.ts"
import { defaultLeaves, documentOf, ownMember, unknownKey, withoutEmptySections } from "./config-keys.ts"
import type { DocumentProblem } from "./config-problem.ts"
import { allowedAt, namesAt } from "./config-reference.ts"
import { ConfigFile } from "./config-schema.ts"

/** Everything that is wrong with a document, at once; nothing when it is a valid configuration. */
export async function validateDocument(document: Json): Promise<DocumentProblem[]> {
  const parsed = ConfigFile.safeParse(withoutEmptySections(document), { error: explained })
  const problems = parsed.success ? [] : parsed.error.issues.flatMap(problemsOf)
  if (!hasRules(document)) return problems
  // Only for a file with rules of its own: reading them takes the whole rule tables, which no command needs to start.
  const { ruleProblems } = await import("./config-rules-check.ts")
  return [...problems, ...ruleProblems(document, problems)]
}

/** What is wrong with one value, on its own. The key must exist. */
export async function validateLeaf(key: string, value: Json): Promise<DocumentProblem[]> {
  if (!defaultLeaves.has(key)) throw unknownKey(key)
  return validateDocument(documentOf(new Map([...defaultLeaves, [key, value]])))
}

function hasRules(document: Json): boolean {
  const lists = [ownMember(document, "rules"), ownMember(ownMember(document, "executor"), "allowed_commands")]
  return lists.some(list => Array.isArray(list) && list.length > 0)
}

/** Texts for what the schemas do not explain themselves. */
function explained(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return "is missing"
  if (issue.code === "too_big" && issue.origin === "array") return "has too many entries"
  if (issue.code === "too_big" && issue.origin === "string") return "is too long"
  return `is ${shown(issue.input)}`
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object" && value !== null) return "a section"
  return typeof value === "string" ? oneLine(JSON.stringify(value), 40) : String(value)
}

function problemsOf(issue: z.core.$ZodIssue): DocumentProblem[] {
  const path = issue.path.map(part => (typeof part === "symbol" ? String(part) : part))
  if (issue.code === "unrecognized_keys") return issue.keys.map(key => unknownName(path, key))
  const allowed = issue.code === "custom" ? null : allowedAt(path)
  return [{ path, what: "value", message: issue.message, allowed }]
}

function unknownName(path: readonly (string | number)[], key: string): DocumentProblem {
  const names = namesAt(path)
  const meant = nearest(key, names)
  const message = meant === null ? "is not a known key" : `is not a known key; did you mean ${meant}?`
  return { path: [...path, key], what: "key", message, allowed: names.join(", ") }
}
