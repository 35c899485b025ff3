import type { z } from "zod"
import type { Json } from "../base/canonical.ts"
import { nearest, oneLine } from "../base/text.ts"
import {
  defaultLeaves,
  documentOf,
  type Leaves,
  leavesOf,
  ownMember,
  unknownKey,
  withoutEmptySections,
} from "./keys.ts"
import type { ConfigProblem, DocumentProblem } from "./problem.ts"
import { allowedAt, namesAt } from "./reference.ts"
import { ConfigFile } from "./schema.ts"
import { readYaml } from "./yaml.ts"

/** The values of a file, or all of its problems. */
export type CheckedText =
  | { readonly leaves: Leaves; readonly problems: readonly [] }
  | { readonly leaves: null; readonly problems: readonly ConfigProblem[] }

/**
 * Reads and validates the text of one file; `source` is its name in messages. Loads the YAML parser and the schemas, so
 * it is imported only when a file exists.
 */
export async function checkConfigText(text: string, source: string): Promise<CheckedText> {
  const read = readYaml(text)
  if ("problems" in read) {
    const problems = read.problems.map(({ kind, message, line, column }) => {
      const code = kind === "tooLarge" ? "ACODE-CFG-004" : "ACODE-CFG-002"
      return { code, source, line, column, key: "", message, allowed: null } as const
    })
    return { leaves: null, problems }
  }
  const { value, placeOf } = read.tree
  // A file that is empty or holds only comments is valid, even without a version.
  if (value === null) return { leaves: new Map(), problems: [] }
  const found = await validateDocument(value)
  const problems = found.map(({ path, what, message, allowed }) => {
    const key = dotted(path)
    return { code: "ACODE-CFG-003", source, ...placeOf(path, what), key, message, allowed } as const
  })
  return problems.length > 0 ? { leaves: null, problems } : { leaves: leavesOf(value), problems: [] }
}

/** Returns a path as `execution.readable_paths[2]`; names from the file are shortened and made safe to print. */
function dotted(path: readonly (string | number)[]): string {
  return path
    .map(part => (typeof part === "number" ? `[${part}]` : `.${oneLine(part, 60)}`))
    .join("")
    .replace(/^\./, "")
}

/** Returns all problems of a document, none for a valid configuration. */
async function validateDocument(document: Json): Promise<DocumentProblem[]> {
  const parsed = ConfigFile.safeParse(withoutEmptySections(document), { error: explained })
  const problems = parsed.success ? [] : parsed.error.issues.flatMap(problemsOf)
  if (!hasRules(document)) return problems
  // Loaded only for a file with rules: checking them loads all rule tables, which no command needs to start.
  const { ruleProblems } = await import("./rules-check.ts")
  return [...problems, ...ruleProblems(document, problems)]
}

/** Returns the problems of a single value. The key must exist. */
export async function validateLeaf(key: string, value: Json): Promise<DocumentProblem[]> {
  if (!defaultLeaves.has(key)) throw unknownKey(key)
  return validateDocument(documentOf(new Map([...defaultLeaves, [key, value]])))
}

function hasRules(document: Json): boolean {
  const lists = [ownMember(document, "rules"), ownMember(ownMember(document, "executor"), "allowed_commands")]
  return lists.some(list => Array.isArray(list) && list.length > 0)
}

/** Returns the message for an issue that the schemas do not explain themselves. */
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
