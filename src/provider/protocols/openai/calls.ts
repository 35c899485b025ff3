import { messageOf } from "../../../base/assert.ts"
import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelCall, ModelItem } from "../../contract.ts"
import { objectOf, unreadable, wordsOf } from "../../fields.ts"
import {
  argumentBytesMax,
  callsMax,
  ownCallId,
  tooLongArguments,
  tooManyCalls,
  unusableArguments,
} from "../../limits.ts"

/** A call as far as it has come. */
export interface PartialCall {
  readonly index: number | null
  id: string
  name: string
  /** JSON as text; an object where a server sent it ready made. */
  arguments: string
  ready: Json | null
}

/** Takes the pieces of calls that one chunk of a stream brings. */
export function takePieces(calls: PartialCall[], pieces: readonly Json[]): void {
  // Pieces without an index that come together are different calls.
  let isFirst = true
  for (const piece of pieces.map(pieceOf)) {
    const last = piece.index === null && !isFirst ? undefined : candidate(calls, piece)
    if (last !== undefined && continues(last, piece)) append(last, piece)
    else open(calls, piece)
    isFirst = false
  }
}

/** Takes the calls of a reply that came in one piece: each of them is whole. */
export function takeWhole(calls: PartialCall[], pieces: readonly Json[]): void {
  for (const piece of pieces) open(calls, pieceOf(piece))
}

function pieceOf(value: Json): PartialCall {
  const call = objectOf(value)
  const named = objectOf(call?.["function"])
  if (call === null || named === null)
    throw unreadable("the server's reply cannot be used: a call in it is no call of a function")
  const { index } = call
  const given = named["arguments"] ?? ""
  return {
    index: typeof index === "number" && Number.isInteger(index) ? index : null,
    id: wordsOf(call["id"]) ?? "",
    name: wordsOf(named["name"]) ?? "",
    arguments: typeof given === "string" ? given : "",
    ready: typeof given === "string" ? null : given,
  }
}

/** The call that a piece may belong to. */
function candidate(calls: readonly PartialCall[], piece: PartialCall): PartialCall | undefined {
  if (piece.index !== null) return calls.findLast(({ index }) => index === piece.index)
  const same = piece.id === "" ? undefined : calls.findLast(({ id }) => id === piece.id)
  return same ?? calls.at(-1)
}

/**
 * Whether a piece is more of a call, or begins another one. The index alone does not tell: some servers send none, and
 * some send 0 with every call. An id alone does not either: some servers make a new one for every piece.
 */
function continues(call: PartialCall, piece: PartialCall): boolean {
  if (piece.name === "" || call.name === "") return true
  const isOpen = call.ready === null && call.arguments !== "" && !isComplete(call.arguments)
  if (isOpen) return piece.name === call.name
  if (call.id !== "" && piece.id !== "") return call.id === piece.id
  const hasArguments = call.arguments !== "" || call.ready !== null
  if (piece.name === call.name) return !hasArguments || (piece.arguments === "" && piece.ready === null)
  // A name in pieces is unusual, but known where there is an index.
  return !hasArguments && piece.index !== null
}

function append(call: PartialCall, piece: PartialCall): void {
  if (call.id === "") call.id = piece.id
  // A name that is told again, whole or as far as it has come, is no piece of it.
  if (piece.name.startsWith(call.name)) call.name = piece.name
  else if (call.arguments === "" && call.ready === null) call.name += piece.name
  call.ready = piece.ready ?? call.ready
  if (isRepeated(call.arguments, piece.arguments)) return
  // One character too many tells that there was more.
  if (call.arguments.length <= argumentBytesMax)
    call.arguments += piece.arguments.slice(0, argumentBytesMax + 1 - call.arguments.length)
}

/** One call too many is kept: it tells that there were more, and takes the pieces that are not of those before it. */
function open(calls: PartialCall[], piece: PartialCall): void {
  if (calls.length > callsMax) return
  calls.push({ ...piece, arguments: piece.arguments.slice(0, argumentBytesMax + 1) })
}

/** Some servers end with the whole call once more. Lengths go first: comparing makes one text of all the pieces. */
function isRepeated(before: string, now: string): boolean {
  return before.length === now.length && before === now && isComplete(before)
}

function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    // Not yet: that is the question.
    return false
  }
}

type CallItem = Extract<ModelItem, { kind: "call" | "problem" }>

const nameMax = 200
const idMax = 200

/** Calls that can be made, and what is wrong with the others, in the order of the reply. */
export function callItems(
  calls: readonly PartialCall[],
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

function readArguments(call: PartialCall): ReadArguments {
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

function parsedArguments({ arguments: text, ready }: PartialCall): ReadArguments {
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
function idFor({ id }: PartialCall, instead: string, taken: ReadonlySet<string>): string {
  if (id !== "" && id.length <= idMax && !taken.has(id)) return id
  let own = instead
  while (taken.has(own)) own += "_"
  return own
}

function nameIn({ name }: PartialCall): string {
  return name === "" ? "a tool without a name" : oneLine(name, 80)
}

function problem(text: string): CallItem {
  return { kind: "problem", text }
}
