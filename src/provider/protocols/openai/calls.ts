import { messageOf } from "../../../base/assert.ts"
import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelCall, ModelItem } from "../../contract.ts"
import { nonEmptyText, objectOf, unreadable } from "../../fields.ts"
import {
  argumentBytesMax,
  callsMax,
  ownCallId,
  tooLongArguments,
  tooManyCalls,
  unusableArguments,
} from "../../limits.ts"

/** A call, as far as it has arrived. */
export interface PartialCall {
  readonly index: number | null
  id: string
  name: string
  /** JSON as text; `ready` instead where a server sent an object. */
  arguments: string
  ready: Json | null
}

/** Adds the pieces of calls in one chunk of a stream. */
export function takePieces(calls: PartialCall[], pieces: readonly Json[]): void {
  // Pieces without an index in one chunk are different calls.
  let isFirst = true
  for (const piece of pieces.map(pieceOf)) {
    const last = piece.index === null && !isFirst ? undefined : candidate(calls, piece)
    if (last !== undefined && continues(last, piece)) append(last, piece)
    else open(calls, piece)
    isFirst = false
  }
}

/** Adds the calls of a reply that was not streamed: each of them is complete. */
export function takeWhole(calls: PartialCall[], pieces: readonly Json[]): void {
  for (const piece of pieces) open(calls, pieceOf(piece))
}

function pieceOf(value: Json): PartialCall {
  const call = objectOf(value)
  const named = objectOf(call?.["function"])
  if (call === null || named === null)
    throw unreadable("the server's reply cannot be used: a call in it is not a function call")
  const { index } = call
  const given = named["arguments"] ?? ""
  return {
    index: typeof index === "number" && Number.isInteger(index) ? index : null,
    id: nonEmptyText(call["id"]) ?? "",
    name: nonEmptyText(named["name"]) ?? "",
    arguments: typeof given === "string" ? given : "",
    ready: typeof given === "string" ? null : given,
  }
}

/** Returns the call that a piece may belong to. */
function candidate(calls: readonly PartialCall[], piece: PartialCall): PartialCall | undefined {
  if (piece.index !== null) return calls.findLast(({ index }) => index === piece.index)
  const same = piece.id === "" ? undefined : calls.findLast(({ id }) => id === piece.id)
  return same ?? calls.at(-1)
}

/**
 * Reports whether a piece continues a call or begins another one. The index alone does not decide: some servers send
 * none, and some send 0 with every call. An id alone does not either: some servers make a new one for every piece.
 */
function continues(call: PartialCall, piece: PartialCall): boolean {
  if (piece.name === "" || call.name === "") return true
  const isOpen = call.ready === null && call.arguments !== "" && !isComplete(call.arguments)
  if (isOpen) return piece.name === call.name
  if (call.id !== "" && piece.id !== "") return call.id === piece.id
  const hasArguments = call.arguments !== "" || call.ready !== null
  if (piece.name === call.name) return !hasArguments || (piece.arguments === "" && piece.ready === null)
  // A name in several pieces is unusual, but occurs where there is an index.
  return !hasArguments && piece.index !== null
}

function append(call: PartialCall, piece: PartialCall): void {
  if (call.id === "") call.id = piece.id
  // A repetition of the name, complete or as far as it has arrived, is not a piece of it.
  if (piece.name.startsWith(call.name)) call.name = piece.name
  else if (call.arguments === "" && call.ready === null) call.name += piece.name
  call.ready = piece.ready ?? call.ready
  if (isRepeated(call.arguments, piece.arguments)) return
  // One character beyond the limit shows that there was more.
  if (call.arguments.length <= argumentBytesMax)
    call.arguments += piece.arguments.slice(0, argumentBytesMax + 1 - call.arguments.length)
}

/**
 * Opens a call. One call beyond the limit is kept: it shows that there were more, and receives the pieces that do not
 * belong to the calls before it.
 */
function open(calls: PartialCall[], piece: PartialCall): void {
  if (calls.length > callsMax) return
  calls.push({ ...piece, arguments: piece.arguments.slice(0, argumentBytesMax + 1) })
}

/**
 * Reports whether a piece repeats the whole call, as some servers do at the end. Compares lengths first: comparing
 * texts would join all the pieces.
 */
function isRepeated(before: string, now: string): boolean {
  return before.length === now.length && before === now && isComplete(before)
}

function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    // Not complete yet.
    return false
  }
}

type CallItem = Extract<ModelItem, { kind: "call" | "problem" }>

const nameMax = 200
const idMax = 200

/** Returns the calls that can be made, and a problem for each other one, in the order of the reply. */
export function callItems(
  calls: readonly PartialCall[],
  replyIndex: number,
  isCutOff: boolean,
): readonly CallItem[] {
  const usedIds = new Set<string>()
  return calls.map((call, index) => {
    if (index >= callsMax) return problem(tooManyCalls)
    // A server may close the brackets of a call that the limit cut off, and half a file would be written.
    if (isCutOff && index === calls.length - 1)
      return problem(`the reply was cut off at its limit, in the call of ${nameIn(call)}`)
    const read = readArguments(call)
    if (read.problem !== undefined) return problem(read.problem)
    const id = idFor(call, ownCallId(replyIndex, index + 1), usedIds)
    usedIds.add(id)
    const made: ModelCall = { id, tool: call.name, arguments: read.values }
    return { kind: "call", call: made }
  })
}

type ReadArguments =
  | { readonly values: Json; readonly problem?: undefined }
  | { readonly problem: string; readonly values?: undefined }

function readArguments(call: PartialCall): ReadArguments {
  if (call.name === "") return { problem: "a call names no tool" }
  if (call.name.length > nameMax) return { problem: `a call names a tool of more than ${nameMax} characters` }
  if (call.arguments.length > argumentBytesMax) return { problem: tooLongArguments(call.name) }
  const parsed = parsedArguments(call)
  if (parsed.problem !== undefined)
    return { problem: `the arguments of the call of ${nameIn(call)} are not JSON: ${parsed.problem}` }
  const values = objectOf(parsed.values)
  if (values === null)
    return { problem: `the arguments of the call of ${nameIn(call)} are not a JSON object` }
  const unusable = unusableArguments(call.name, values)
  return unusable === null ? { values } : { problem: unusable }
}

function parsedArguments({ arguments: text, ready }: PartialCall): ReadArguments {
  if (ready !== null) return { values: ready }
  // Servers write a call without arguments like this.
  if (text.trim() === "") return { values: {} }
  try {
    const values: Json = JSON.parse(text)
    return { values }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** Returns an id that is unique in this reply, and the same when the reply is read again. */
function idFor({ id }: PartialCall, instead: string, usedIds: ReadonlySet<string>): string {
  if (id !== "" && id.length <= idMax && !usedIds.has(id)) return id
  let own = instead
  while (usedIds.has(own)) own += "_"
  return own
}

function nameIn({ name }: PartialCall): string {
  return name === "" ? "a tool without a name" : oneLine(name, 80)
}

function problem(text: string): CallItem {
  return { kind: "problem", text }
}
