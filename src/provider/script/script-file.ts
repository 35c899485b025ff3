import type * as z from "zod/mini"
import type { Json } from "../../base/canonical.ts"
import { pathText, quoted, shapeFindings } from "../../domain/plan/problem.ts"
import { findUnusable } from "../limits.ts"
import { parseReply, type ReplyForm, type ScriptReply } from "./script-schema.ts"

/** The replies of a scripted model, in order. */
export interface Script {
  readonly replies: readonly ScriptReply[]
}

/** A problem in a script. Safe to print: quotes of the script have their escapes shown. */
export interface ScriptProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

export type ScriptReading = { readonly script: Script } | { readonly problems: readonly ScriptProblem[] }

/** Reads the script in a parsed file, or returns all of its problems. Never throws, whatever the value. */
export function readScript(value: Json): ScriptReading {
  const unusable = findUnusable(value)
  if (unusable !== null) return { problems: [unusable] }
  if (!isObject(value)) return { problems: [{ path: [], message: "a script is an object with replies" }] }
  const problems: ScriptProblem[] = Object.keys(value)
    .filter(key => key !== "replies")
    .map(key => ({ path: [key], message: "is an unknown property" }))
  const listed = value["replies"]
  if (!Array.isArray(listed) || listed.length === 0)
    return { problems: [...problems, { path: ["replies"], message: listProblem(listed) }] }
  const replies: ScriptReply[] = []
  for (const [index, entry] of listed.entries()) {
    const read = readReply(entry, ["replies", index])
    if ("reply" in read) replies.push(read.reply)
    else problems.push(...read.problems)
  }
  return problems.length > 0 ? { problems } : { script: { replies } }
}

/** Formats a problem: `$.replies[3].calls[0].tool: is missing` */
export function scriptProblemText({ path, message }: ScriptProblem): string {
  return `${pathText(path)}: ${message}`
}

function listProblem(listed: Json | undefined): string {
  if (listed === undefined) return "is missing"
  return Array.isArray(listed) ? "must not be empty" : "must be a list"
}

type ReplyReading = { readonly reply: ScriptReply } | { readonly problems: readonly ScriptProblem[] }

function readReply(value: Json, path: readonly (string | number)[]): ReplyReading {
  if (!isObject(value)) return { problems: [{ path, message: "must be an object" }] }
  const form = formOf(value)
  if (typeof form !== "string") return { problems: [{ path, message: form.problem }] }
  // Stages are read in any case wherever a person writes them.
  const stage = value["stage"]
  const cased = typeof stage === "string" ? { ...value, stage: stage.toLowerCase() } : value
  const parsed = parseReply(form, cased)
  if ("reply" in parsed) return parsed
  return { problems: parsed.issues.flatMap(issue => problemsOf(issue, value, path)) }
}

/** Returns the form of a reply by its property: a message about all forms would hide the mistake. */
function formOf(reply: JsonObject): ReplyForm | { readonly problem: string } {
  const given = contentNames.filter(name => Object.hasOwn(reply, name))
  // Text may accompany calls.
  const [first, ...others] = given.includes("calls") ? given.filter(name => name !== "text") : given
  if (first !== undefined && others.length > 0)
    return { problem: `has ${[first, ...others].join(" and ")}; a reply has one of them` }
  if (!Object.hasOwn(reply, "fault"))
    return first ?? { problem: `needs one of ${contentNames.join(", ")}, fault` }
  if (first === undefined) return "fault"
  const kind = isObject(reply["fault"]) ? reply["fault"]["kind"] : undefined
  if (typeof kind !== "string" || kind === "slow") return first
  return { problem: `has ${first} and the fault ${quoted(kind)}; only slow goes with what is said` }
}

const contentNames = [
  "plan",
  "questions",
  "answer",
  "calls",
  "text",
  "verdict",
] as const satisfies ReplyForm[]

function problemsOf(
  issue: z.core.$ZodIssue,
  reply: JsonObject,
  path: readonly (string | number)[],
): ScriptProblem[] {
  const aboutNumber = numberProblem(issue)
  return shapeFindings([issue], reply).map(({ path: inner, message }) => ({
    path: [...path, ...inner],
    message: message === "is missing" ? message : (aboutNumber ?? message),
  }))
}

/** Phrases problems of bounded numbers, which the sentences about plans do not cover. */
function numberProblem(issue: z.core.$ZodIssue): string | null {
  if (issue.code === "invalid_type" && issue.expected === "number") return "must be a whole number"
  const isBound = issue.code === "too_small" || issue.code === "too_big"
  if (!isBound || issue.origin === "array" || issue.origin === "string") return null
  return issue.code === "too_small" ? `must be at least ${issue.minimum}` : `must be at most ${issue.maximum}`
}

type JsonObject = { readonly [key: string]: Json }

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
