import type * as z from "zod/mini"
import type { Json } from "../base/canonical.ts"
import type { PlanFinding, PlanPath } from "./plan-problem.ts"

type Issue = z.core.$ZodIssue

/** What does not fit the schema, in sentences. The schemas carry no language, so their own words say nothing. */
export function shapeFindings(issues: readonly Issue[], value: Json, base: PlanPath = []): PlanFinding[] {
  return issues.flatMap(issue => {
    const path = [...base, ...issue.path.map(part => (typeof part === "number" ? part : String(part)))]
    if (issue.code === "unrecognized_keys")
      return issue.keys.map(key => finding([...path, key], "is not a property that is known here"))
    if (issue.code === "invalid_union" && issue.errors.length > 0) return stepFindings(issue, value, path)
    return [finding(path, valueAt(value, path) === undefined ? "is missing" : sentence(issue))]
  })
}

/** A step is measured against the form it shows: told of both forms, nobody would find the mistake. */
function stepFindings(issue: z.core.$ZodIssueInvalidUnion, value: Json, path: PlanPath): PlanFinding[] {
  const step = valueAt(value, path)
  if (typeof step !== "object" || step === null || Array.isArray(step))
    return [finding(path, "must be an object")]
  const [isOpen, isConcrete] = [Object.hasOwn(step, "action"), Object.hasOwn(step, "tool")]
  if (isOpen && isConcrete) return [finding(path, "has both an action and a tool; a step has one of them")]
  if (!isOpen && !isConcrete)
    return [finding(path, "needs a tool with arguments, or an action with a description")]
  const [ofOpen = [], ofConcrete = []] = issue.errors
  return shapeFindings(isOpen ? ofOpen : ofConcrete, value, path)
}

function sentence(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options)
        ? `must be one of ${issue.options.map(String).join(", ")}`
        : "is not valid here"
    case "too_small":
      return "must not be empty"
    case "too_big":
      return `must have at most ${issue.maximum} ${issue.origin === "string" ? "characters" : "entries"}`
    case "invalid_format":
      return "must be printable, without a blank at its beginning or end"
    default:
      return "is not valid here"
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text in quotes",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
}

function valueAt(value: Json, path: PlanPath): Json | undefined {
  let here: Json | undefined = value
  for (const part of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, part)) return undefined
    // as: a list is asked by number and an object by name; the line above saw that it is there.
    here = (here as Readonly<Record<string | number, Json>>)[part]
  }
  return here
}

function finding(path: PlanPath, message: string): PlanFinding {
  return { code: "E001", path, message }
}
