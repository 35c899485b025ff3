import { messageOf } from "../../base/assert.ts"
import type { Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { ownCallId } from "../call-id.ts"
import {
  argumentBytesMax,
  callsMax,
  tooLongArguments,
  tooManyCalls,
  unusableArguments,
} from "../call-limits.ts"
import type { ModelCall, ModelItem } from "../contract.ts"
import { objectOf } from "../fields.ts"
import type { OpenCall } from "./call-assembly.ts"

type CallItem = Extract<ModelItem, { kind: "call" | "problem" }>

const nameMax = 200
const idMax = 200

/** Calls that can be made, and what is wrong with the others, in the order of the reply. */
export function callItems(
  calls: readonly OpenCall[],
  replyIndex: number,
  isCutOff: boolean,
): readonly CallItem[] {
  const taken = new Set<string>()
  return calls.map((call, place) => {
    if (place >= callsMax) return problem(tooManyCalls)
    // A server may close the brackets of what the limit cut, and half a file would be written.
    if (isCutOff && place === calls.length - 1)
      return problem(`the reply was cut off at its limit, in the call of ${nameIn(call)}`)
    const read = readArguments(call)
    if (read.problem !== undefined) return problem(read.problem)
    const id = idFor(call, ownCallId(replyIndex, place + 1), taken)
    taken.add(id)
    const made: ModelCall = { id, tool: call.name, arguments: read.values }
    return { kind: "call", call: made }
  })
}

type ReadArguments =
  | { readonly values: Json; readonly problem?: undefined }
  | { readonly problem: string; readonly values?: undefined }

function readArguments(call: OpenCall): ReadArguments {
  if (call.name === "") return { problem: "a call names no tool" }
  if (call.name.length > nameMax) return { problem: `a call names a tool of more than ${nameMax} characters` }
  if (call.arguments.length > argumentBytesMax) return { problem: tooLongArguments(call.name) }
  const parsed = parsedArguments(call)
  if (parsed.problem !== undefined)
    return { problem: `the arguments of the call of ${nameIn(call)} are no JSON: ${parsed.problem}` }
  const values = objectOf(parsed.values)
  if (values === null) return { problem: `the arguments of the call of ${nameIn(call)} are no JSON object` }
  const unusable = unusableArguments(call.name, values)
  return unusable === null ? { values } : { problem: unusable }
}

function parsedArguments({ arguments: text, ready }: OpenCall): ReadArguments {
  if (ready !== null) return { values: ready }
  // This is how servers write the call of a tool that needs nothing.
  if (text.trim() === "") return { values: {} }
  try {
    const values: Json = JSON.parse(text)
    return { values }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** An id that is its own in this reply, and the same when the reply is read again. */
function idFor({ id }: OpenCall, instead: string, taken: ReadonlySet<string>): string {
  if (id !== "" && id.length <= idMax && !taken.has(id)) return id
  let own = instead
  while (taken.has(own)) own += "_"
  return own
}

function nameIn({ name }: OpenCall): string {
  return name === "" ? "a tool without a name" : oneLine(name, 80)
}

function problem(text: string): CallItem {
  return { kind: "problem", text }
}
