import { canonicalJson, type Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { findUnusable } from "../limits.ts"
import { readJson, skipSpace } from "./json-text.ts"

export interface PrintedCall {
  readonly tool: string
  readonly arguments: Json
}

/**
 * The calls found in a text. `none`: the text contains no attempt to call a tool. `problem`: it does, and the call must
 * not be made.
 */
export type CallReading =
  | { readonly kind: "calls"; readonly calls: readonly PrintedCall[] }
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "none" }

type Members = { readonly [key: string]: Json }

const nameKeys = ["tool", "name", "function"]
const argumentKeys = ["arguments", "args", "parameters", "input"]
const none: CallReading = { kind: "none" }

/** Returns the calls that a value represents, in any of the spellings that models use. */
export function callsOf(value: Json, offered: ReadonlySet<string>): CallReading {
  if (isList(value)) return callsOfList(value, offered)
  if (!isMembers(value)) return none
  const { tool_calls: list, function: inner } = value
  if (list !== undefined && isList(list)) return callsOfList(list, offered)
  if (inner !== undefined && isMembers(inner)) return callsOf(inner, offered)
  return callOf(value, offered)
}

function callsOfList(values: readonly Json[], offered: ReadonlySet<string>): CallReading {
  const readings = values.map(value => (isMembers(value) ? callsOf(value, offered) : none))
  if (readings.every(({ kind }) => kind === "none")) return none
  const calls: PrintedCall[] = []
  for (const reading of readings) {
    if (reading.kind === "none") return problem("the list of calls contains something else")
    if (reading.kind === "problem") return reading
    calls.push(...reading.calls)
  }
  return { kind: "calls", calls }
}

function callOf(value: Members, offered: ReadonlySet<string>): CallReading {
  const names = [...new Set(given(value, nameKeys).filter(name => typeof name === "string"))]
  const [tool] = names
  if (tool === undefined) return none
  const [args, ...others] = given(value, argumentKeys)
  if (args === undefined)
    return names.some(name => offered.has(name))
      ? problem(`the call of ${quoted(tool)} has no arguments`)
      : none
  if (names.length > 1) return problem(`a call names both ${names.map(quoted).join(" and ")}`)
  if (others.some(other => canonicalJson(other) !== canonicalJson(args)))
    return problem(`the call of ${quoted(tool)} has arguments under two names, and they differ`)
  if (!offered.has(tool))
    return problem(`${quoted(tool)} is not offered; offered are ${[...offered].join(", ")}`)
  return callWith(tool, typeof args === "string" ? argumentsIn(args) : { value: args })
}

type Arguments = { readonly value: Json; readonly problem?: undefined } | { readonly problem: string }

/** Parses arguments that a server or model wrote as JSON inside a text. */
function argumentsIn(text: string): Arguments {
  const start = skipSpace(text, 0)
  const reading = readJson(text, start)
  if (reading.problem !== undefined) return reading
  if (skipSpace(text, reading.end) < text.length) return { problem: "the JSON is followed by other text" }
  return reading
}

function callWith(tool: string, args: Arguments): CallReading {
  if (args.problem !== undefined)
    return problem(`the arguments of ${quoted(tool)} cannot be read: ${args.problem}`)
  const { value } = args
  if (!isMembers(value)) return problem(`the arguments of ${quoted(tool)} are not a JSON object`)
  // A model that repeats the description of a tool does not call it.
  if (value["type"] === "object" && value["properties"] !== undefined)
    return problem(`the arguments of ${quoted(tool)} are a description of arguments`)
  const unusable = findUnusable(value)
  if (unusable !== null)
    return problem(`the arguments of ${quoted(tool)} cannot be used: one ${unusable.message}`)
  return { kind: "calls", calls: [{ tool, arguments: value }] }
}

function given(value: Members, keys: readonly string[]): readonly Json[] {
  return keys.flatMap(key => {
    const member = Object.hasOwn(value, key) ? value[key] : undefined
    return member === undefined ? [] : [member]
  })
}

function problem(text: string): CallReading {
  return { kind: "problem", problem: text }
}

function quoted(name: string): string {
  return JSON.stringify(oneLine(name, 60))
}

function isMembers(value: Json): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Narrows to a list: `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
